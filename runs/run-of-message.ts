import { AgentAlreadyRunningError, HelixError } from '../protocol/errors.js';
import type { Store } from '../store/contract/store.js';

/** An accepted message is queued: it has no run yet. */
export class MessageWaitsError extends AgentAlreadyRunningError {}

/**
 * The run that replies to a message which was accepted before; the newest, where its turn was
 * resumed or repeated.
 *
 * @throws MessageWaitsError; HelixError `not_found` for a message that the session does not have, or
 * that was copied into it with its reply
 */
export async function runOfMessage(
  { sessions, queue }: Pick<Store, 'sessions' | 'queue'>,
  sessionId: string,
  messageId: string,
): Promise<string> {
  const runId = await sessions.runOf(sessionId, messageId);
  if (runId !== undefined) return runId;
  const waiting = await queue.read(sessionId);
  if (waiting.some(({ messages }) => messages.some(({ id }) => id === messageId))) {
    throw new MessageWaitsError(sessionId);
  }
  // Its turn may have begun between the two reads.
  const begun = await sessions.runOf(sessionId, messageId);
  if (begun === undefined) throw new HelixError('not_found', 'The run of this message is unknown.');
  return begun;
}
