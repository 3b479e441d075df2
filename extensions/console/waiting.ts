import {
  type About,
  answerCall,
  defineRoute,
  extendDeadline,
  type Identity,
  inJson,
  listHidden,
  mayRead,
  NOT_TAKEN,
  openForOperator,
  readSettled,
  type Route,
  type RouteDeps,
  SESSION,
  toAnswer,
  toOperatorQuestions,
} from '../../api/extension.js';
import { requireAllowed } from '../../ai-sdk/index.js';
import { CallPath } from '../../protocol/http.js';
import { toShownSessionId } from '../../protocol/ids.js';
import {
  OperatorAnswerBody,
  OperatorExtendBody,
  OperatorWaiting,
  OperatorWaitingQuery,
  type OperatorWaitingSession,
} from '../../protocol/operator.js';
import { AnswerReply, ExtendReply } from '../../protocol/replies.js';
import type { WaitingSession } from '../../store/contract/waiting.js';

const call = { method: 'post', params: CallPath } as const;
export const OPERATOR_WAITING_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/operator/waiting',
    id: 'listTenantWaiting',
    audits: 'read',
    summary: 'List what waits for people in the tenant',
    query: OperatorWaitingQuery,
    replies: inJson(200, 'A page, longest wait first.', OperatorWaiting),
    refusals: ['not_allowed', 'not_found'],
    about: async (call): Promise<About> => {
      const { session } = call.query;
      if (session === undefined) return mayRead(call);
      return openForOperator(call.deps, call.caller, 'read', session);
    },
    handle: async ({ deps, response, caller, query, about: { sessionId } }) => {
      const { olderThan, session: _session, ...page } = query;
      if (sessionId !== undefined) {
        const sessions = await readWaiting(deps, caller, sessionId);
        response.json({ sessions } satisfies OperatorWaiting);
        return;
      }
      const { sessions, cursor } = await deps.stateStore.waiting.pageOfTenant(caller.tenantId, {
        ...page,
        ...(olderThan !== undefined && { askedBy: Date.now() - olderThan }),
      });
      const shown = await Promise.all(sessions.map((found) => toWaiting(deps, caller, found)));
      response.json({ sessions: shown.flat(), cursor } satisfies OperatorWaiting);
    },
  }),
  defineRoute({
    ...call,
    path: '/api/operator/waiting/:sessionId/:toolCallId',
    id: 'answerTenantCall',
    audits: 'act',
    summary: "Answer a pending call in a colleague's or customer's conversation",
    body: OperatorAnswerBody,
    replies: inJson(202, 'The answer is stored.', AnswerReply, SESSION),
    refusals: ['not_found', ...NOT_TAKEN],
    handle: async (answered) => {
      const { deps, response, params, body, caller } = answered;
      const record = await openForOperator(deps, caller, 'answer', params.sessionId);
      const answer = toAnswer(params.toolCallId, body);
      response.status(202).json(await answerCall(answered, { record }, answer));
    },
  }),
  defineRoute({
    ...call,
    path: '/api/operator/waiting/:sessionId/:toolCallId/extend',
    id: 'extendTenantDeadline',
    audits: 'act',
    summary: 'Extend the deadline of a pending call of the tenant',
    body: OperatorExtendBody,
    replies: inJson(202, 'The new deadline.', ExtendReply, SESSION),
    refusals: [
      'not_found',
      'not_allowed',
      'not_pending',
      'already_completed',
      'stale_run',
      'expired',
      'no_deadline',
      'deadline_too_far',
    ],
    handle: async (extended) => {
      const { deps, params, body, caller } = extended;
      const { toolCallId } = params;
      const record = await openForOperator(deps, caller, 'extend', params.sessionId);
      await extendDeadline(extended, record, { toolCallId, ...body });
    },
  }),
];

/** Reads one conversation, at any position of the list. */
async function readWaiting(
  deps: RouteDeps,
  caller: Identity,
  sessionId: string,
): Promise<OperatorWaitingSession[]> {
  const { sessions, waiting } = deps.stateStore;
  const [found, since] = await Promise.all([
    sessions.withCalls(sessionId),
    waiting.since(sessionId),
  ]);
  if (found === undefined) return [];
  return toWaiting(deps, caller, { ...found, since: since ?? found.record.updatedAt });
}

/** Returns an empty list if all questions were overdue, or the caller may not read the session. */
async function toWaiting(
  deps: RouteDeps,
  caller: Identity,
  found: WaitingSession,
): Promise<OperatorWaitingSession[]> {
  try {
    await requireAllowed(deps, caller, 'read', found.record);
  } catch {
    return [];
  }
  const current = await readSettled(deps, found);
  if (current === undefined) return [];
  const pending = await toOperatorQuestions(deps, caller, current);
  if (pending.length === 0) return [];
  const { sessionId, agent, owner, deadline, runId, status } = current.record;
  const run = { runId, status };
  const shown = { sessionId: toShownSessionId(sessionId), run, agent, owner };
  const hidden = await listHidden(deps, current.record);
  return [{ ...shown, since: found.since, deadline, pending, ...hidden }];
}
