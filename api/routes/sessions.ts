import {
  isOwner,
  judged,
  notFound,
  toPendingQuestions,
  toReplyHeaders,
  type Caller,
} from '../../ai-sdk/index.js';
import { ConversationsQuery, SessionPath, WaitingQuery } from '../../protocol/http.js';
import { toShownSessionId } from '../../protocol/ids.js';
import { isTerminal } from '../../protocol/run.js';
import { Conversations, SessionPending, WaitingSessions } from '../../protocol/replies.js';
import type { Conversation } from '../../store/contract/owners.js';
import type { SessionCalls } from '../../store/contract/sessions.js';
import type { WaitingSession } from '../../store/contract/waiting.js';
import { titleOf } from '../../store/record/conversation-title.js';
import type { RouteDeps } from '../deps.js';
import { listHidden, readHidden } from '../operator-access.js';
import { defineRoute, inJson, SESSION_AND_RUN, type Route } from './route.js';

export const SESSIONS_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/conversations',
    id: 'listConversations',
    audits: 'none',
    summary: 'List the conversations of the caller',
    query: ConversationsQuery,
    replies: inJson(200, 'A page, newest change first.', Conversations),
    handle: async ({ deps, response, query, caller }) => {
      const owner = { owner: caller.userId, tenant: caller.tenantId };
      const { q: search, ...at } = query;
      const { conversations, ...page } = await deps.stateStore.owners.page(owner, {
        ...at,
        search,
      });
      const shown = await Promise.all(
        conversations.map(async (each) => ({
          ...each,
          sessionId: toShownSessionId(each.sessionId),
          waiting: await countWaiting(deps, each),
        })),
      );
      response.json({ ...page, conversations: shown } satisfies Conversations);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/sessions',
    id: 'listWaiting',
    audits: 'none',
    summary: 'List the sessions of the caller that wait for people',
    query: WaitingQuery,
    replies: inJson(200, 'A page, longest wait first.', WaitingSessions),
    handle: async ({ deps, response, query, caller }) => {
      const owner = { owner: caller.userId, tenant: caller.tenantId };
      const { sessions, cursor } = await deps.stateStore.waiting.page(owner, query);
      const shown = await Promise.all(sessions.map((found) => toWaiting(deps, caller, found)));
      response.json({ sessions: shown.flat(), cursor } satisfies WaitingSessions);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/sessions/:sessionId/pending',
    id: 'getPending',
    audits: 'none',
    summary: 'List the open questions of one session',
    access: 'owner',
    params: SessionPath,
    replies: inJson(200, 'The questions, with their deadlines.', SessionPending, SESSION_AND_RUN),
    handle: async ({ deps, response, params, record, caller }) => {
      const found = await deps.stateStore.sessions.withCalls(record.sessionId);
      if (found === undefined || !isOwner(found.record, caller)) throw notFound();
      const current = await readSettled(deps, found);
      if (current === undefined) throw notFound();
      const seen = await judged(deps, caller, current);
      const pending = { ...toPending(seen), ...(await readHidden(deps, current.record)) };
      response
        .set(toReplyHeaders(params.sessionId, current.record))
        .json(pending satisfies SessionPending);
    },
  }),
];

/** Counts open questions to people; an ended run has none. */
async function countWaiting(
  { stateStore: store }: RouteDeps,
  { sessionId, status }: Conversation,
): Promise<number> {
  if (isTerminal(status)) return 0;
  const found = await store.sessions.withCalls(sessionId);
  return found === undefined ? 0 : toPendingQuestions(found.openCalls).length;
}

/** Settles overdue calls. Returns the session after that, or undefined if it was deleted meanwhile. */
export async function readSettled(
  { stateStore, executor }: RouteDeps,
  found: SessionCalls,
): Promise<SessionCalls | undefined> {
  const { sessionId, deadline = Infinity } = found.record;
  const hasExpired = deadline <= Date.now() && (await executor.expireCalls(sessionId));
  return hasExpired ? stateStore.sessions.withCalls(sessionId) : found;
}

/** Returns an empty list if all questions were overdue. */
async function toWaiting(
  deps: RouteDeps,
  caller: Caller,
  found: WaitingSession,
): Promise<WaitingSessions['sessions']> {
  const current = await readSettled(deps, found);
  if (current === undefined) return [];
  const { deadline, agent } = current.record;
  const { hiddenMessages: _none, ...body } = toPending(await judged(deps, caller, current));
  if (body.pending.length === 0) return [];
  // One row is enough, since nearly every conversation begins with the words of a person.
  const title = titleOf(await deps.stateStore.sessions.rows(current.record.sessionId, 0, 1));
  const hidden = await listHidden(deps, current.record);
  return [{ ...body, title, agent, since: found.since, deadline, ...hidden }];
}

function toPending({ record, openCalls }: SessionCalls): SessionPending {
  const { sessionId, runId, status } = record;
  const run = { runId, status };
  return { sessionId: toShownSessionId(sessionId), run, pending: toPendingQuestions(openCalls) };
}
