import { randomUUID } from 'node:crypto';
import { findSession, type Caller } from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { toShownSessionId, FINISH_TOOL_NAME, HEADERS } from '../../protocol/ids.js';
import { BranchBody, CheckpointQuery, RetryBody, SessionPath } from '../../protocol/http.js';
import { BranchReply, CheckpointsReply, RetryReply } from '../../protocol/replies.js';
import type { Row } from '../../protocol/rows.js';
import { beginningOf } from '../../store/record/conversation-title.js';
import type { RouteDeps } from '../deps.js';
import { retryRun, sendRun } from '../acts.js';
import { toActor } from '../identity.js';
import { defineRoute, inJson, SESSION, SESSION_AND_RUN, type Route } from './route.js';

const owned = { access: 'owner', params: SessionPath } as const;

const RERUN = ['message_not_found', 'checkpoint_not_found', 'nothing_to_do'] as const;

export const RERUN_ROUTES: readonly Route[] = [
  defineRoute({
    ...owned,
    method: 'post',
    path: '/api/chat/:sessionId/retry',
    id: 'retryChat',
    audits: 'act',
    summary: 'Run a turn again, or continue after a checkpoint',
    body: RetryBody,
    replies: inJson(202, 'The new run.', RetryReply, SESSION_AND_RUN),
    refusals: [
      ...RERUN,
      'agent_already_running',
      'agent_not_found',
      'not_resumable',
      'quota_exceeded',
      'budget_exceeded',
    ],
    handle: async (call) => {
      sendRun(call, await retryRun(call, call.record, call.body));
    },
  }),
  defineRoute({
    ...owned,
    method: 'post',
    path: '/api/chat/:sessionId/branch',
    id: 'branchChat',
    audits: 'act',
    summary: 'Copy the conversation, up to a checkpoint or a message',
    body: BranchBody,
    replies: {
      201: { description: 'The copy.', content: { json: BranchReply }, headers: SESSION },
    },
    refusals: [...RERUN, 'session_exists', 'quota_exceeded'],
    handle: async (call) => {
      const { deps, response, body, record, caller } = call;
      const { checkpointId, messageIndex, sessionId = `s-${randomUUID()}` } = body;
      const input = {
        sessionId: record.sessionId,
        ...toActor(call),
        checkpointId,
        messageIndex,
        newSessionId: await findFreeId(deps, sessionId, caller),
      };
      const copy = await deps.countRead((meter) => deps.executor.branch({ ...input, meter }));
      // The reply is about the copy, which has no run yet.
      response.removeHeader(HEADERS.runId);
      const shown = { ...copy, sessionId: toShownSessionId(copy.sessionId) };
      response
        .status(201)
        .set(HEADERS.sessionId, shown.sessionId)
        .json(shown satisfies BranchReply);
    },
  }),
  defineRoute({
    ...owned,
    method: 'get',
    path: '/api/chat/:sessionId/checkpoints',
    id: 'listCheckpoints',
    audits: 'none',
    summary: 'List checkpoints',
    query: CheckpointQuery,
    replies: inJson(200, 'A page, newest first.', CheckpointsReply, SESSION_AND_RUN),
    handle: async ({ deps, response, query, record }) => {
      const { sessionId } = record;
      const { checkpoints, sessions } = deps.stateStore;
      const page = await checkpoints.list(sessionId, query);
      const shown = await Promise.all(
        page.checkpoints.map(async (checkpoint) => {
          const { messageCount: end } = checkpoint;
          const [reply] = end === 0 ? [] : await sessions.rows(sessionId, end - 1, end);
          return { ...checkpoint, ...toStepPreview(reply) };
        }),
      );
      response.json({ ...page, checkpoints: shown } satisfies CheckpointsReply);
    },
  }),
];

/** Returns the stored id of a copy. @throws HelixError `session_exists` */
async function findFreeId(
  { stateStore }: RouteDeps,
  sessionId: string,
  caller: Caller,
): Promise<string> {
  const { storedId, record } = await findSession(stateStore, sessionId, caller);
  if (record === undefined) return storedId;
  throw new HelixError('session_exists', 'There is a session of that id.', {
    detail: { sessionId },
  });
}

interface StepPreview {
  text?: string;
  toolNames?: string[];
}

const MAX_NAMES = 5;

/** Previews a step by its stored reply; empty if the row is no reply. Pure. */
export function toStepPreview(row: Row | undefined): StepPreview {
  if (row?.role !== 'assistant') return {};
  const text = beginningOf(row.parts.map((part) => (part.type === 'text' ? part.text : '')));
  const called = row.parts.flatMap((part) =>
    part.type === 'tool-call' && part.toolName !== FINISH_TOOL_NAME ? [part.toolName] : [],
  );
  const toolNames = [...new Set(called)].slice(0, MAX_NAMES);
  return { ...(text !== '' && { text }), ...(toolNames.length > 0 && { toolNames }) };
}
