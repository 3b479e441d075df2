import type { RequestHandler, Response } from 'express';
import { readOwned, toReplyHeaders, type Caller } from '../ai-sdk/index.js';
import type { SessionRecord } from '../store/contract/sessions.js';
import type { Store } from '../store/contract/store.js';

/**
 * Loads the caller's own session, and names it and its newest run in the headers of the reply, so
 * that refusals name them too.
 *
 * @throws HelixError `not_found`, to strangers as well
 */
export async function loadOwnSession(
  store: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller,
  response: Response,
): Promise<SessionRecord> {
  const record = await readOwned(store, sessionId, caller);
  response.set(toReplyHeaders(sessionId, record));
  return record;
}

/** The paths, up to the session id, of all routes that name their session in the path. */
export function sessionPaths(routes: readonly { path: string }[]): string[] {
  const paths = routes.flatMap(({ path }) => /^.*?\/:sessionId/.exec(path) ?? []);
  return [...new Set(paths)];
}

/** Names the session of the path in every reply, including refusals before it is loaded. */
export const nameSession: RequestHandler<{ sessionId: string }> = (request, response, next) => {
  response.set(toReplyHeaders(request.params.sessionId));
  next();
};
