import { AgentAlreadyRunningError, HelixError } from '../protocol/errors.js';
import type { Store } from '../stores/contract/store.js';

/** An accepted message is queued: it has no run yet. */
export class MessageWaitsError extends AgentAlreadyRunningError {}

/**
 * The run that replies to a message which was accepted before; the newest, where its turn was
 * resumed or repeated. A message of a former turn that an earlier build wrote, which noted no runs, leads
 * to the run of the next reply.
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
  const begun =
    (await sessions.runOf(sessionId, messageId)) ?? (await newest()) ?? (await replied());
  if (begun === undefined) throw new HelixError('not_found', 'The run of this message is unknown.');
  return begun;

  /** The newest run, if the message is of its turn. */
  async function newest(): Promise<string | undefined> {
    const record = await sessions.read(sessionId);
    if (record === undefined) return undefined;
    const rows = await sessions.rows(sessionId, record.turnStartRow);
    return rows.some(({ role, ...row }) => role === 'user' && 'id' in row && row.id === messageId)
      ? record.runId
      : undefined;
  }

  /** The run of the first reply after the message, if it is one of this session. */
  async function replied(): Promise<string | undefined> {
    const rows = (await sessions.view(sessionId))?.rows ?? [];
    const index = rows.findIndex((row) => row.role === 'user' && row.id === messageId);
    if (index < 0) return undefined;
    const reply = rows.slice(index + 1).find((row) => row.role === 'assistant');
    const isOwn = reply?.role === 'assistant' && reply.runId.startsWith(`${sessionId}:`);
    return isOwn ? reply.runId : undefined;
  }
}
