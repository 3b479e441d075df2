import { redis } from './host.js';
import { arePlacesNoted } from './carry-over.js';
import type { StoredMessage } from './messages.js';
import { readMessagePlace } from './places.js';
import { readHead } from './rows.js';
import type { Session } from './session.js';

/**
 * Hash of an accepted message. Undefined for a message that was never accepted, or that a rewind
 * dropped: of many dropped rows only the newest are forgotten by id, so the place decides whether a
 * message is still in the transcript.
 */
export function acceptedHash(session: Session, id: string): string | undefined {
  const hash = redis.call('HGET', session.messages, id);
  if (hash === false) return undefined;
  const place = readMessagePlace(session, id);
  // The message is queued, or was accepted before places were noted.
  if (place === undefined) return hash;
  const row = redis.call('LINDEX', session.rows, place.row);
  if (row !== false && readHead(row).id === id) return hash;
  return arePlacesNoted(session) ? undefined : hash;
}

/** Accepts messages. A place left from before a rewind is removed. */
export function accept(session: Session, messages: readonly StoredMessage[]): void {
  const accepted: string[] = [];
  for (const { id, hash } of messages) {
    accepted.push(id, hash);
    if (redis.call('HEXISTS', session.messages, id) === 1) {
      redis.call('HDEL', session.places, `m:${id}`);
    }
  }
  redis.call('HSET', session.messages, ...accepted);
}
