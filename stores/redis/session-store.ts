import { toStoredJson } from '../record/to-stored-json.js';
import { formatUsage } from '../record/run-usage.js';
import { checkSessionId } from '../record/checked-ids.js';
import { createSessionDocuments } from '../record/session-documents.js';
import { isQuestion } from '../record/waiting-page.js';
import type { Store } from '../contract/store.js';
import type { RedisContext } from './context.js';
import { createDocumentPrimitives } from './document-primitives.js';
import {
  beginArgs,
  beginChildArgs,
  commitArgs,
  endArgs,
  extendArgs,
  resumeRunArgs,
  rewindArgs,
  branchArgs,
  settleArgs,
  writerArgs,
} from './script-args.js';
import { toBranchResult, toResumeRunResult, toRewindResult } from './rerun-replies.js';
import {
  toExtendResult,
  toLeaseResult,
  toSettleCallResult,
  toStartCallResult,
} from './call-replies.js';
import {
  toBeginQueuedResult,
  toBeginResult,
  toClaimResult,
  toCommitResult,
  toDiscardResult,
  toEditQueuedResult,
  toEndResult,
  toStopResult,
  toTakeOverResult,
} from './script-replies.js';
import type { ScriptName, ScriptReply } from './scripts.js';
import { toBeginChildResult } from './sub-agent-replies.js';
import { createSessionIndex } from './session-index.js';
import { createSessionReads } from './session-reads.js';
import { createSessionViews } from './session-views.js';
import { createWaitingIndex } from './waiting-index.js';

/** The record of sessions in Redis: each transition is one Lua file, this file is its calling form. */
export function createRedisSessionStore(context: RedisContext): Store {
  const { keys, scripts } = context;
  const run = (
    name: ScriptName,
    sessionId: string,
    args: (string | number)[],
  ): Promise<ScriptReply> => scripts.run(name, keys.session(sessionId).all, args);
  const reads = { ...createSessionReads(context), ...createSessionViews(context) };
  const primitives = createDocumentPrimitives(context);
  const { noteAsking, ...waiting } = createWaitingIndex(context, reads.readCalls);
  const { noteActiveSnapshot, ...due } = createSessionIndex(context);
  const documents = createSessionDocuments({
    ...reads,
    ...primitives,
    erase: async (sessionId) => {
      // Its record says whose list it is on.
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
      branch: async (input) => {
        checkSessionId(input.sessionId);
        return toBranchResult(await run('branch', input.sessionId, branchArgs(input)));
      },
      ...documents.sessions,
    },
    runs: {
      begin: async (input) => {
        checkSessionId(input.sessionId);
        const reply = await run('begin', input.sessionId, beginArgs(input, context.maxEntries));
        return toBeginResult(reply, input);
      },
      beginChild: async (input) => {
        const { sessionId } = input.child;
        return toBeginChildResult(await run('begin-child', sessionId, beginChildArgs(input)));
      },
      resume: async (input) =>
        toResumeRunResult(await run('resume-run', input.sessionId, resumeRunArgs(input)), input),
      rewind: async (input) =>
        toRewindResult(await run('rewind', input.sessionId, rewindArgs(input)), input),
      stop: async (sessionId, { runId, ...stop }) =>
        toStopResult(
          await run('stop', sessionId, [
            sessionId,
            runId ?? '',
            stop.mode,
            toStoredJson(stop),
            Date.now(),
          ]),
        ),
      end: async (input) => toEndResult(await run('end', input.sessionId, endArgs(input))),
      ...documents.runs,
    },
    steps: {
      claim: async ({ writer, known, now }) =>
        toClaimResult(await run('claim', writer.sessionId, [...writerArgs(writer, now), known])),
      commit: async (input) => {
        const { sessionId } = input.writer;
        if (input.calls.some(isQuestion)) await noteAsking(sessionId);
        return toCommitResult(await run('commit', sessionId, commitArgs(input)));
      },
      discard: async ({ writer, reason, failure, usage, now }) =>
        toDiscardResult(
          await run('discard', writer.sessionId, [
            ...writerArgs(writer, now),
            reason,
            failure,
            formatUsage(usage),
          ]),
        ),
      takeOver: async ({ sessionId, runId, name }) =>
        toTakeOverResult(await run('take-over', sessionId, [runId, name])),
    },
    calls: {
      start: async ({ writer, toolCallId, now }) =>
        toStartCallResult(
          await run('start-call', writer.sessionId, [...writerArgs(writer, now), toolCallId]),
        ),
      settle: async (input) =>
        toSettleCallResult(
          await run(
            'settle-call',
            input.source === 'tool' ? input.writer.sessionId : input.sessionId,
            settleArgs(input),
          ),
        ),
      extendDeadline: async (input) =>
        toExtendResult(await run('extend-deadline', input.sessionId, extendArgs(input))),
      lease: async ({ sessionId, runId, toolCallId, holder, forMs }) =>
        toLeaseResult(await run('lease-call', sessionId, [runId, toolCallId, holder, forMs])),
      takeId: async (sessionId, call, wanted) => {
        const [, id] = await run('take-call-id', sessionId, [call, wanted]);
        return String(id);
      },
      read: reads.readCall,
      readSubAgentIds: reads.readSubAgentCallIds,
      ...documents.calls,
    },
    queue: {
      begin: async (input) => {
        const { sessionId, nonce, now } = input;
        const args = [sessionId, nonce, now, context.maxEntries];
        return toBeginQueuedResult(await run('begin-queued', sessionId, args), input);
      },
      edit: async ({ sessionId, message: { id, hash, row }, expectedHash, now }) => {
        const args = [sessionId, id, expectedHash, hash, toStoredJson(row), now];
        return toEditQueuedResult(await run('edit-queued', sessionId, args));
      },
      remove: async ({ sessionId, messageId = '', now }) => {
        const [, count] = await run('remove-queued', sessionId, [sessionId, messageId, now]);
        return { kind: 'removed', count: Number(count) };
      },
      read: reads.readQueue,
    },
    documents: documents.documents,
    checkpoints: documents.checkpoints,
    staging: documents.staging,
    waiting,
    due,
  };
}
