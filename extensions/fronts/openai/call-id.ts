import { isSessionId } from '../../../protocol/ids.js';

/** A session id has no colon; a call id may have some. */
const SEPARATOR = ':';

/** The id of a call that names its conversation, for programs that send no session. Pure. */
export function formatCallId(sessionId: string, toolCallId: string): string {
  return sessionId + SEPARATOR + toolCallId;
}

/**
 * Reads an id of `formatCallId`. With a named session the bare id of a call is taken as well. Pure.
 *
 * @returns undefined if it names no session, or another one than the request
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
