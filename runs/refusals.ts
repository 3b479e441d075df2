import { AgentAlreadyRunningError, HelixError } from '../protocol/errors.js';
import type { BeginResult } from '../store/contract/runs.js';
import type { Store } from '../store/contract/store.js';
import { isStoredSessionId } from '../protocol/ids.js';

export function toBeginRefusal(
  sessionId: string,
  result: Exclude<BeginResult, { kind: 'begun' | 'accepted' }>,
): HelixError {
  switch (result.kind) {
    // The message was accepted and is answered in its turn; it has no run yet.
    case 'queued':
    case 'steered':
    case 'interrupting':
    case 'busy':
      return new AgentAlreadyRunningError(sessionId);
    case 'queue_full':
      return new HelixError('queue_full', 'Too many messages wait in this conversation.');
    case 'conflict':
      return messageConflict(result.messageId);
    case 'agent_mismatch':
      return agentMismatch(result.agent);
    case 'foreign':
      return notFound();
  }
}

/** Strangers get the same error, so that they learn nothing. */
export function notFound(): HelixError {
  return new HelixError('not_found', 'There is no such conversation.');
}

export function messageConflict(messageId: string): HelixError {
  return new HelixError('message_conflict', 'This message was sent before, with other content.', {
    detail: { messageId },
  });
}

export function agentMismatch(agent: string): HelixError {
  return new HelixError('agent_mismatch', 'This conversation is with another agent.', {
    detail: { agent },
  });
}

export function noSuchAgent(): HelixError {
  return new HelixError('agent_not_found', 'There is no agent of that name.');
}

export function noSuchMessage(): HelixError {
  return new HelixError('message_not_found', 'This conversation has no such message.');
}

export function noSuchCheckpoint(): HelixError {
  return new HelixError('checkpoint_not_found', 'This conversation has no such checkpoint.');
}

export function sessionExists(): HelixError {
  return new HelixError('session_exists', 'A conversation with that id exists already.');
}

export function messageTooLarge(id: string): HelixError {
  return new HelixError('message_too_large', 'The message is too large.', { detail: { id } });
}

/** @throws HelixError `validation_error` for an id that no client may choose */
export function requireStoredId(sessionId: string): void {
  if (isStoredSessionId(sessionId)) return;
  throw new HelixError('validation_error', 'The session id must match [A-Za-z0-9_-]{1,128}.');
}

/** An accepted message is queued: it has no run yet. */
export class MessageWaitsError extends AgentAlreadyRunningError {}

/**
 * Returns the run that replies to an accepted message; the newest, if its turn was repeated.
 * @throws MessageWaitsError; HelixError `not_found`, also for a message that was copied with its
 * reply
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
