import { LIMITS } from '../../protocol/limits.js';
import { checkSessionId } from '../record/checked-ids.js';
import { formatUsage } from '../record/run-usage.js';
import { createSessionDocuments } from '../record/session-documents.js';
import { toStoredRow } from '../record/to-stored-row.js';
import { isQuestion } from '../record/waiting-page.js';
import type { Calls } from '../contract/calls.js';
import type { Queue } from '../contract/queue.js';
import type { Runs } from '../contract/runs.js';
import type { Sessions } from '../contract/sessions.js';
import type { Steps } from '../contract/steps.js';
import type { Store } from '../contract/store.js';
import { branchRequests } from './branch-requests.js';
import type { RedisContext } from './context.js';
import { createDocumentPrimitives } from './document-primitives.js';
import {
  beginChildRequest,
  beginRequest,
  claimRequest,
  commitRequest,
  endRequest,
  rewindRequest,
} from './requests.js';
import { createSessionIndex } from './session-index.js';
import { createSessionReads } from './session-reads.js';
import { createSessionViews } from './session-views.js';
import { settleRequest } from './settle-request.js';
import { createWaitingIndex } from './waiting-index.js';

/** The record of sessions: each change is one transition, whose request and result this file names. */
export function createRedisSessionStore(context: RedisContext): Store {
  const reads = { ...createSessionReads(context), ...createSessionViews(context) };
  const primitives = createDocumentPrimitives(context);
  const { noteAsking, ...waiting } = createWaitingIndex(context, reads.readCalls);
  const { noteActiveSnapshot, ...due } = createSessionIndex(context);
  const documents = createSessionDocuments({
    ...reads,
    ...primitives,
    erase: async (sessionId) => {
      await waiting.forget(sessionId);
      await primitives.erase(sessionId);
    },
  });

  return {
    sessions: {
      read: reads.readRecord,
      rows: reads.readRows,
      view: reads.readView,
      withCalls: reads.readCalls,
      acceptedMessages: reads.acceptedMessages,
      noteActiveSnapshot,
      branch: createBranch(context),
      ...documents.sessions,
    },
    runs: { ...createRunTransitions(context), ...documents.runs },
    steps: createStepTransitions(context, noteAsking),
    calls: { ...createCallTransitions(context), read: reads.readCall, ...documents.calls },
    queue: { ...createQueueTransitions(context), read: reads.readQueue },
    documents: documents.documents,
    checkpoints: documents.checkpoints,
    staging: documents.staging,
    waiting,
    due,
  };
}

function createBranch({ transitions }: RedisContext): Sessions['branch'] {
  return async (input) => {
    checkSessionId(input.sessionId);
    let result: unknown;
    for (const request of branchRequests(input)) {
      result = await transitions.run('branch', input.sessionId, request);
      if ((result as { kind: string }).kind !== 'stored') break;
    }
    return result as Awaited<ReturnType<Sessions['branch']>>;
  };
}

type RunTransitions = Omit<Runs, 'current' | 'list' | 'interruption'>;

function createRunTransitions({ transitions, maxEntries, now }: RedisContext): RunTransitions {
  return {
    begin: async (input) => {
      checkSessionId(input.sessionId);
      return (await transitions.run('begin', input.sessionId, (contents) =>
        beginRequest(input, maxEntries, contents),
      )) as Awaited<ReturnType<Runs['begin']>>;
    },
    beginChild: async (input) =>
      (await transitions.run(
        'beginChild',
        input.child.sessionId,
        beginChildRequest(input),
      )) as Awaited<ReturnType<Runs['beginChild']>>,
    resume: async ({ sessionId, by = '', ...input }) =>
      (await transitions.run('resumeRun', sessionId, { ...input, by })) as Awaited<
        ReturnType<Runs['resume']>
      >,
    rewind: async (input) =>
      (await transitions.run('rewind', input.sessionId, (contents) =>
        rewindRequest(input, contents),
      )) as Awaited<ReturnType<Runs['rewind']>>,
    stop: async (sessionId, { runId, ...stop }) =>
      (await transitions.run('stop', sessionId, (contents) => ({
        runId,
        mode: stop.mode,
        record: contents.addJson(stop),
        now: now(),
      }))) as Awaited<ReturnType<Runs['stop']>>,
    end: async (input) =>
      (await transitions.run('end', input.sessionId, (contents) =>
        endRequest(input, contents),
      )) as Awaited<ReturnType<Runs['end']>>,
  };
}

function createStepTransitions(
  { transitions }: RedisContext,
  noteAsking: (sessionId: string) => Promise<void>,
): Steps {
  return {
    claim: async (input) =>
      (await transitions.run('claim', input.writer.sessionId, claimRequest(input))) as Awaited<
        ReturnType<Steps['claim']>
      >,
    commit: async (input) => {
      const { sessionId } = input.writer;
      if (input.calls.some(isQuestion)) await noteAsking(sessionId);
      return (await transitions.run('commit', sessionId, (contents, layout) =>
        commitRequest(input, contents, layout),
      )) as Awaited<ReturnType<Steps['commit']>>;
    },
    discard: async ({ writer, reason, failure, usage, now }) => {
      const request = { writer, reason, failure, usage: formatUsage(usage), now };
      const result = await transitions.run('discard', writer.sessionId, request);
      return result as Awaited<ReturnType<Steps['discard']>>;
    },
    takeOver: async ({ sessionId, runId, name }) =>
      (await transitions.run('takeOver', sessionId, { runId, name })) as Awaited<
        ReturnType<Steps['takeOver']>
      >,
  };
}

type CallTransitions = Omit<Calls, 'read' | 'pending' | 'suspension'>;

function createCallTransitions({ transitions }: RedisContext): CallTransitions {
  return {
    start: async (input) =>
      (await transitions.run('startCall', input.writer.sessionId, input)) as Awaited<
        ReturnType<Calls['start']>
      >,
    settle: async (input) => {
      const sessionId = input.source === 'tool' ? input.writer.sessionId : input.sessionId;
      return (await transitions.run('settleCall', sessionId, (contents, layout) =>
        settleRequest(input, contents, layout),
      )) as Awaited<ReturnType<Calls['settle']>>;
    },
    extendDeadline: async ({ sessionId, ...input }) =>
      (await transitions.run('extendDeadline', sessionId, {
        ...input,
        mostAheadMs: LIMITS.deadlineAheadMs,
      })) as Awaited<ReturnType<Calls['extendDeadline']>>,
    lease: async ({ sessionId, ...input }) =>
      (await transitions.run('leaseCall', sessionId, input)) as Awaited<ReturnType<Calls['lease']>>,
    takeId: async ({ sessionId, ...input }) =>
      (await transitions.run('takeCallId', sessionId, input)) as Awaited<
        ReturnType<Calls['takeId']>
      >,
  };
}

function createQueueTransitions({ transitions, maxEntries }: RedisContext): Omit<Queue, 'read'> {
  return {
    begin: async ({ sessionId, nonce, now }) =>
      (await transitions.run('beginQueued', sessionId, {
        nonce,
        now,
        cap: maxEntries,
      })) as Awaited<ReturnType<Queue['begin']>>,
    edit: async ({ sessionId, message: { id, hash, row }, expectedHash, now }) =>
      (await transitions.run('editQueued', sessionId, (contents) => ({
        messageId: id,
        expectedHash,
        hash,
        row: contents.add(toStoredRow(row)),
        now,
      }))) as Awaited<ReturnType<Queue['edit']>>,
    remove: async ({ sessionId, messageId, now }) =>
      (await transitions.run('removeQueued', sessionId, { messageId, now })) as Awaited<
        ReturnType<Queue['remove']>
      >,
  };
}
