import { isSessionId } from '../../../protocol/ids.js';

/** A session id has no colon; a call id may have some. */
const SEPARATOR = ':';

/** Returns a call's id with its conversation, for programs that send no session. Pure. */
export function formatCallId(sessionId: string, toolCallId: string): string {
  return sessionId + SEPARATOR + toolCallId;
}

/**
 * Parses an id of `formatCallId`. If the request names a session, a bare call id is accepted too. Pure.
 *
 * @returns undefined if the id names no session, or not the request's
 */
export function parseCallId(
  id: string,
  named: string | undefined,
): { sessionId: string; toolCallId: string } | undefined {
  const at = id.indexOf(SEPARATOR);
  const sessionId = id.slice(0, Math.max(at, 0));
  const toolCallId = id.slice(at + 1);
  if (named !== undefined) {
    return { sessionId: named, toolCallId: sessionId === named ? toolCallId : id };
  }
  return isSessionId(sessionId) && toolCallId !== '' ? { sessionId, toolCallId } : undefined;
}
