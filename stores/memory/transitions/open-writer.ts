import type { OpenWriterResult, Writer } from '../../contract/log.js';
import { discardAttempt, ownWriter } from '../attempts.js';
import { keepForEver } from '../expiry.js';
import { speakerOf } from '../own-chunks.js';
import type { MemorySession } from '../session.js';

/**
 * Makes an attempt the owner of a writer name that belongs to no run; withdraws what lower attempts
 * left. Creates the stream if there is none, opens one that has ended; that of a session is opened
 * by its runs only.
 */
export function openWriter(
  session: MemorySession,
  writer: Writer,
  nonce: string,
  now: number,
): OpenWriterResult {
  const { log } = session;
  const { name, token } = writer;
  const owned = session.writers.get(name);
  const owner = owned?.token ?? 0;
  if (owner === token && owned?.nonce === nonce) {
    return { kind: 'opened', sequence: log.sequence };
  }
  if (owner >= token) return { kind: 'fenced' };
  const rests = session.stream !== 'active' && session.stream !== 'paused';
  if (rests && session.identity !== undefined) return { kind: 'ended' };
  if (owner > 0) discardAttempt(session, speakerOf(writer, now), name, 'attempt_lost');
  ownWriter(session, name, token, nonce);
  if (rests) {
    session.stream = 'active';
    session.streamError = undefined;
    session.updatedAt = now;
    keepForEver(session);
  }
  return { kind: 'opened', sequence: log.sequence };
}
