import { AgentAlreadyRunningError, HelixError, type ErrorCode } from '../protocol/errors.js';
import { isStoredSessionId } from '../protocol/ids.js';
import type { BeginResult, Runs } from '../store/contract/runs.js';
import type { Store } from '../store/contract/store.js';

const TEXTS = {
  agent_mismatch: 'This conversation is with another agent.',
  agent_not_found: 'There is no agent of that name.',
  checkpoint_not_found: 'This conversation has no such checkpoint.',
  message_conflict: 'This message was sent before, with other content.',
  message_not_found: 'This conversation has no such message.',
  message_too_large: 'The message is too large.',
  // Strangers get the same error, so that they learn nothing.
  not_found: 'There is no such conversation.',
  not_resumable: 'There is nothing to continue.',
  queue_full: 'Too many messages wait in this conversation.',
  session_exists: 'A conversation with that id exists already.',
  stale_run: 'Another run is the newest of this conversation.',
} as const satisfies Partial<Record<ErrorCode, string>>;

export function refusal(code: keyof typeof TEXTS, detail?: object): HelixError {
  return new HelixError(code, TEXTS[code], { detail });
}

type ReplyOf<Change extends 'resume' | 'rewind'> = Awaited<ReturnType<Runs[Change]>>;

/** Converts the reply of the store to a change that began no run. */
export function toRefusal(
  sessionId: string,
  reply:
    | Exclude<BeginResult, { kind: 'begun' | 'accepted' }>
    | Exclude<ReplyOf<'resume'>, { kind: 'resumed' | 'active' }>
    | Exclude<ReplyOf<'rewind'>, { kind: 'rewound' }>,
): HelixError {
  switch (reply.kind) {
    // The message was accepted and is answered in its turn; it has no run yet.
    case 'queued':
    case 'steered':
    case 'interrupting':
    case 'busy':
      return new AgentAlreadyRunningError(sessionId);
    case 'conflict':
      return refusal('message_conflict', { messageId: reply.messageId });
    case 'agent_mismatch':
      return refusal('agent_mismatch', { agent: reply.agent });
    case 'stale_run':
      return refusal('stale_run', { runId: reply.runId });
    case 'final':
      return refusal('not_resumable', { status: reply.status });
    case 'foreign':
      return refusal('not_found');
    default:
      return refusal(reply.kind);
  }
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
