import type { Request, RequestHandler, Response } from 'express';
import { readOwned, toReplyHeaders } from '../ai-sdk/index.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import type { Store } from '../stores/contract/store.js';
import type { Identity, ReadIdentity } from './identity.js';

/**
 * Finds the caller's own session, and names it and its newest run in the headers of the reply,
 * whatever becomes of the request.
 *
 * @throws HelixError `not_found`, to strangers as well
 */
export type LoadOwnSession = (
  request: Request,
  response: Response,
  sessionId: string,
) => Promise<{ record: SessionRecord; caller: Identity }>;

export function createSessionLoader(
  { stateStore }: { stateStore: Pick<Store, 'sessions'> },
  readIdentity: ReadIdentity,
): LoadOwnSession {
  return async (request, response, sessionId) => {
    const caller = await readIdentity(request);
    const record = await readOwned(stateStore, sessionId, caller);
    response.set(toReplyHeaders(sessionId, record));
    return { record, caller };
  };
}

/** Paths below `/api` that name a conversation. */
const NAMED = /^\/(?:chat|sessions)\/([^/]+)/i;

/** Names the conversation of a path in every reply, also in refusals before it is looked at. */
export const nameSession: RequestHandler = (request, response, next) => {
  response.set(toReplyHeaders(NAMED.exec(request.path)?.[1] ?? ''));
  next();
};
