import { LIMITS } from '../../protocol/limits.js';
import { checkSessionId } from '../record/checked-ids.js';
import { formatUsage } from '../record/run-usage.js';
import { fitChanges } from '../record/fit-changes.js';
import { createSessionDocuments } from '../record/session-documents.js';
import { toStoredRow } from '../record/to-stored-row.js';
import { isQuestion } from '../record/waiting-page.js';
import type { CallPermission, Calls } from '../contract/calls.js';
import type { Queue } from '../contract/queue.js';
import type { Runs } from '../contract/runs.js';
import type { Sessions } from '../contract/sessions.js';
import type { ClaimResult, Steps } from '../contract/steps.js';
import { onData } from '../contract/shared-data.js';
import type { Store } from '../contract/store.js';
import { branchRequests } from './branch-requests.js';
import { createAudit } from './audit.js';
import type { RedisContext } from './context.js';
import { createDocumentPrimitives } from './document-primitives.js';
import { createDueLists } from './due-lists.js';
import {
  beginChildRequest,
  beginRequest,
  claimRequest,
  commitRequest,
  endRequest,
  rewindRequest,
  startCallRequest,
} from './requests.js';
import { createErasures } from './erasures.js';
import { createFiles } from './files.js';
import { createJournalReads } from './journal-reads.js';
import { recordStepRequest, suspendRequest } from './journal-requests.js';
import { createLeases } from './leases.js';
import { createRequests } from './known-requests.js';
import { createOwners } from './owners.js';
import { createBatchRecords } from './batches.js';
import { createPauses } from './pauses.js';
import { createSessionReads } from './session-reads.js';
import { createSessionViews } from './session-views.js';
import { settleRequest } from './settle-request.js';
import { toAskerText } from './stored-record.js';
import { createStoredRows } from './stored-rows.js';
import { toStateRead } from './stored-state.js';
import { createTallies } from './tallies.js';
import { createUsage } from './usage.js';
import { createWaitingIndex } from './waiting-index.js';

/**
 * The record of sessions. Each change is one transition; this file maps methods to requests and
 * results.
 */
export function createRedisSessionStore(context: RedisContext): Store {
  const reads = { ...createSessionReads(context), ...createSessionViews(context) };
  const primitives = createDocumentPrimitives(context);
  const { noteAsking, ...waiting } = createWaitingIndex(context, reads.readCalls);
  const { close, ...owners } = createOwners(context, reads.readRows);
  const documents = createSessionDocuments({
    ...reads,
    ...primitives,
    erase: async (sessionId, act) => {
      await waiting.forget(sessionId);
      // What its runs have used counts for its owner even if no process has added it yet.
      const owner = await close(sessionId);
      await primitives.erase(sessionId, act);
      if (owner !== undefined) await owners.fold(sessionId, owner);
    },
  });

  const store: Store = {
    sessions: {
      read: reads.readRecord,
      rows: reads.readRows,
      children: reads.readChildren,
      carriers: reads.readCarriers,
      view: reads.readView,
      withCalls: reads.readCalls,
      acceptedMessages: reads.acceptedMessages,
      runOf: reads.runOf,
      askers: reads.askers,
      noteActiveSnapshot: (sessionId, turn) =>
        context.transitions.noteSnapshot(sessionId, { turn, isActive: true }, context.now()),
      noteRestingSnapshot: (sessionId, turn) =>
        context.transitions.noteSnapshot(sessionId, { turn, isActive: false }, context.now()),
      branch: createBranch(context),
      ...documents.sessions,
    },
    runs: { ...createRunTransitions(context), ...documents.runs },
    steps: createStepTransitions(context, noteAsking),
    calls: {
      ...createCallTransitions(context, noteAsking),
      read: reads.readCall,
      ...documents.calls,
    },
    queue: { ...createQueueTransitions(context), read: reads.readQueue },
    documents: documents.documents,
    checkpoints: documents.checkpoints,
    staging: documents.staging,
    waiting,
    due: createDueLists(context),
    owners,
    audit: createAudit(context),
    erasures: createErasures(context, { waiting, owners, read: reads.readRecord }),
    tallies: createTallies(context),
    usage: createUsage(context),
    batches: createBatchRecords(context),
    pauses: createPauses(context),
    requests: createRequests(context),
    files: createFiles(context),
    leases: createLeases(context, context.leaseThread),
  };
  return onData(store, context.data);
}

function createBranch({ transitions }: RedisContext): Sessions['branch'] {
  return async (input) => {
    checkSessionId(input.sessionId);
    for (const request of branchRequests(input)) {
      const result = await transitions.run('branch', input.sessionId, request);
      if (result.kind !== 'stored') return result;
    }
    throw new Error('a branch has a last part');
  };
}

function createRunTransitions({
  transitions,
  maxEntries,
  now,
}: RedisContext): Omit<Runs, 'current' | 'list' | 'interruption'> {
  return {
    begin: async (input) => {
      checkSessionId(input.sessionId);
      return transitions.run('begin', input.sessionId, (contents) =>
        beginRequest(input, maxEntries, contents),
      );
    },
    beginChild: (input) =>
      transitions.run('beginChild', input.child.sessionId, beginChildRequest(input)),
    resume: ({ sessionId, by = '', asker, act, ...input }) =>
      transitions.run('resumeRun', sessionId, (contents) => ({
        ...input,
        by,
        asker: toAskerText({ asker, by }),
        act: contents.addOptional(act),
      })),
    rewind: (input) =>
      transitions.run('rewind', input.sessionId, (contents) => rewindRequest(input, contents)),
    stop: (sessionId, { runId, act, ...stop }) =>
      transitions.run('stop', sessionId, (contents) => ({
        runId,
        mode: stop.mode,
        record: contents.addJson(stop),
        now: now(),
        act: contents.addOptional(act),
      })),
    pinTools: ({ sessionId, runId, tools }) =>
      transitions.run('pinTools', sessionId, (contents) => ({
        runId,
        tools: contents.addOptional(tools),
      })),
    end: (input) =>
      transitions.run('end', input.sessionId, (contents) => endRequest(input, contents)),
  };
}

type Claimed = Extract<ClaimResult, { kind: 'claimed' }>;

function createStepTransitions(
  context: RedisContext,
  noteAsking: (sessionId: string) => Promise<void>,
): Steps {
  const { transitions } = context;
  const { toRows } = createStoredRows(context);
  return {
    claim: async (input) => {
      const { sessionId } = input.writer;
      const reply = await transitions.run('claim', sessionId, claimRequest(input));
      if (!Array.isArray(reply)) return reply;
      const [claimed, from, stored, ...state] = reply;
      const rows = await toRows(sessionId, stored);
      return {
        ...(JSON.parse(claimed) as Claimed),
        fresh: { from: Number(from), rows },
        ...(input.wants?.state === true && { state: toStateRead(state) }),
      };
    },
    commit: async (input) => {
      const { sessionId } = input.writer;
      if (input.calls.some(isQuestion)) await noteAsking(sessionId);
      return transitions.run('commit', sessionId, (contents) => commitRequest(input, contents));
    },
    discard: ({ usage, ...input }) =>
      transitions.run('discard', input.writer.sessionId, { ...input, usage: formatUsage(usage) }),
    compact: ({ writer, compaction, usage }) =>
      transitions.run('compact', writer.sessionId, (contents) => ({
        writer,
        compaction: contents.addOptional(compaction),
        usage: formatUsage(usage),
      })),
    handOver: (input) => transitions.run('handOver', input.writer.sessionId, input),
    takeOver: ({ sessionId, ...input }) => transitions.run('takeOver', sessionId, input),
  };
}

function createCallTransitions(
  context: RedisContext,
  noteAsking: (sessionId: string) => Promise<void>,
): Omit<Calls, 'read' | 'pending' | 'suspension'> {
  const { transitions } = context;
  const withAnswers = createJournalReads(context);
  return {
    start: async (input) => {
      const { sessionId } = input.writer;
      const reply = await transitions.run('startCall', sessionId, startCallRequest(input));
      if (!Array.isArray(reply)) return withAnswers(sessionId, reply);
      const [json, ...stored] = reply;
      const { customState, staged } = toStateRead(stored);
      const state = fitChanges(customState, staged);
      const permission = await withAnswers(sessionId, JSON.parse(json) as CallPermission);
      return { ...permission, state };
    },
    recordStep: (input) =>
      transitions.run('recordStep', input.writer.sessionId, (contents) =>
        recordStepRequest(input, contents),
      ),
    suspend: async (input) => {
      const { sessionId } = input.writer;
      if (isQuestion(input.wait)) await noteAsking(sessionId);
      return transitions.run('suspendCall', sessionId, (contents) =>
        suspendRequest(input, contents),
      );
    },
    settle: (input) => {
      const sessionId = input.source === 'tool' ? input.writer.sessionId : input.sessionId;
      return transitions.run('settleCall', sessionId, (contents) => settleRequest(input, contents));
    },
    extendDeadline: ({ sessionId, act, ...input }) =>
      transitions.run('extendDeadline', sessionId, (contents) => ({
        ...input,
        mostAheadMs: LIMITS.deadlineAheadMs,
        act: contents.addOptional(act),
      })),
    lease: ({ sessionId, ...input }) => transitions.run('leaseCall', sessionId, input),
    takeId: ({ sessionId, ...input }) => transitions.run('takeCallId', sessionId, input),
  };
}

function createQueueTransitions({ transitions, maxEntries }: RedisContext): Omit<Queue, 'read'> {
  return {
    begin: ({ sessionId, ...input }) =>
      transitions.run('beginQueued', sessionId, { ...input, cap: maxEntries }),
    edit: ({ sessionId, message: { id, hash, row }, expectedHash, asker, now }) =>
      transitions.run('editQueued', sessionId, (contents) => ({
        messageId: id,
        expectedHash,
        hash,
        row: contents.add(toStoredRow(row)),
        asker: toAskerText({ asker }, true),
        now,
      })),
    remove: ({ sessionId, ...input }) => transitions.run('removeQueued', sessionId, input),
  };
}
