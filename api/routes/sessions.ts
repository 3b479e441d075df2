import { Router } from 'express';
import type { Response } from 'express';
import {
  convertToUIMessages,
  isOwner,
  notFound,
  readOwned,
  toPendingQuestions,
  toReplyHeaders,
  type Caller,
} from '../../ai-sdk/index.js';
import { WaitingQuery, type SessionPending, type WaitingSessions } from '../../protocol/http.js';
import { toShownSessionId } from '../../protocol/ids.js';
import type { SessionCalls } from '../../stores/contract/sessions.js';
import type { WaitingSession } from '../../stores/contract/waiting.js';
import type { ApiDeps } from '../deps.js';
import type { ReadIdentity } from '../identity.js';
import { parseQuery, parseSessionId } from '../validate.js';

/** What waits for people, for inboxes: over all sessions of the caller, and in one of them. */
export function createSessionsRoutes(deps: ApiDeps, readIdentity: ReadIdentity): Router {
  const { stateStore: store, executor } = deps;
  const router = Router();

  router.get('/', async (request, response: Response<WaitingSessions>) => {
    const { userId: owner, tenantId: tenant } = await readIdentity(request);
    const whose = { owner, ...(tenant !== undefined && { tenant }) };
    const { limit, cursor } = parseQuery(WaitingQuery, request);
    const more = cursor === undefined ? {} : { cursor };
    const page = await store.waiting.page(whose, { limit, ...more });
    const sessions = await Promise.all(page.sessions.map(toWaiting));
    response.set('cache-control', 'no-store').json({
      sessions: sessions.flat(),
      ...(page.cursor !== undefined && { cursor: page.cursor }),
    });
  });

  router.get('/:sessionId/pending', async (request, response: Response<SessionPending>) => {
    const sessionId = parseSessionId(request);
    const caller = await readIdentity(request);
    const found = await readCurrent(sessionId, caller);
    response
      .set(toReplyHeaders(sessionId, found.record))
      .set('cache-control', 'no-store')
      .json({ ...toPending(found), ...(await readHidden(found)) });
  });

  return router;

  /** A person who decides must see all that the model saw. */
  async function readHidden({
    record,
  }: SessionCalls): Promise<Pick<SessionPending, 'hiddenMessages'>> {
    const rows = await store.sessions.rows(record.sessionId, record.turnStartRow);
    const hidden = rows.filter((row) => row.role === 'user' && row.hidden === true);
    if (hidden.length === 0) return {};
    return { hiddenMessages: convertToUIMessages(hidden, { filterHidden: false }) };
  }

  /** @throws HelixError `not_found`, to strangers as well */
  async function readCurrent(sessionId: string, caller: Caller): Promise<SessionCalls> {
    const own = await readOwned(store, sessionId, caller);
    const found = await store.sessions.withCalls(own.sessionId);
    if (found === undefined || !isOwner(found.record, caller)) throw notFound();
    return (await expired(found)) ?? found;
  }

  /** What is overdue is settled first; nothing comes back if it was nothing. */
  async function expired({ record }: SessionCalls): Promise<SessionCalls | undefined> {
    const { sessionId, deadline = Infinity } = record;
    if (deadline > Date.now() || !(await executor.expireCalls(sessionId))) return undefined;
    return store.sessions.withCalls(sessionId);
  }

  /** Nothing, if its questions were overdue. */
  async function toWaiting(found: WaitingSession): Promise<WaitingSessions['sessions']> {
    const current = (await expired(found)) ?? found;
    const { deadline, agent } = current.record;
    const body = toPending(current);
    if (body.pending.length === 0) return [];
    const { since } = found;
    return [{ ...body, agent, since, ...(deadline !== undefined && { deadline }) }];
  }
}

function toPending({ record, openCalls }: SessionCalls): SessionPending {
  const { sessionId, runId, status } = record;
  const run = { runId, status };
  return { sessionId: toShownSessionId(sessionId), run, pending: toPendingQuestions(openCalls) };
}
