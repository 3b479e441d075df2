import { formatInt, redis } from './host.js';
import type { StoredMessage } from './messages.js';
import { readMessagePlace, readRunOf } from './places.js';
import { readHead } from './rows.js';
import type { Session } from './session.js';

/**
 * Hash of an accepted message. Undefined for a message that was never accepted, or that a rewind
 * dropped: of many dropped rows only the newest are forgotten by id, so the place decides whether a
 * message is still in the transcript.
 */
export function acceptedHash(session: Session, id: string): string | undefined {
  const { hash, isDropped } = readAccepted(session, id);
  return isDropped ? undefined : hash;
}

/** The hash that is stored of a message, also of one that a rewind dropped. */
export function readAccepted(
  session: Session,
  id: string,
): { hash: string | undefined; isDropped: boolean } {
  const stored = redis.call('HGET', session.messages, id);
  if (stored === false) return { hash: undefined, isDropped: false };
  const place = readMessagePlace(session, id);
  // The message is queued.
  if (place === undefined) return { hash: stored, isDropped: false };
  const row = redis.call('LINDEX', session.rows, formatInt(place.row));
  const isThere = row !== false && readHead(row).id === id;
  return { hash: stored, isDropped: !isThere };
}

/**
 * The newest run of the turn of a message. Undefined while the message waits, and for one that was
 * copied with its reply.
 */
export function runOfAccepted(session: Session, id: string): string | undefined {
  const place = readMessagePlace(session, id);
  return place === undefined ? undefined : readRunOf(session, place.turn);
}

/** Accepts messages. */
export function accept(session: Session, messages: readonly StoredMessage[]): void {
  const accepted: string[] = [];
  for (const { id, hash } of messages) accepted.push(id, hash);
  redis.call('HSET', session.messages, ...accepted);
}
