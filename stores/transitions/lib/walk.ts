import { redis } from './host.js';
import { readCalls } from './calls.js';
import { isLive, readField } from './root.js';
import { sessionAt, type Session } from './session.js';

const FIELDS = ['state', 'kind', 'child', 'deadline', 'asked'] as const;

/** A call of a step, as it was when its session was found. */
export type FoundCall = { id: string } & Record<(typeof FIELDS)[number], string | undefined>;

/** A session with its calls. */
export interface Found {
  session: Session;
  calls: FoundCall[];
}

/** A session, then each active or waiting sub-agent's below it, in the order of the calls. */
export function sessionsBelow(session: Session): Found[] {
  const found: Found[] = [];
  collect(session, readFound(session), found);
  return found;
}

/** The same, of a session whose calls were read. */
export function sessionsBelowCalls(session: Session, calls: FoundCall[]): Found[] {
  const found: Found[] = [];
  collect(session, calls, found);
  return found;
}

export function readFound(session: Session): FoundCall[] {
  return readCalls(session, FIELDS);
}

function collect(session: Session, calls: FoundCall[], found: Found[]): void {
  found.push({ session, calls });
  for (const { child: part, state } of calls) {
    if (part === undefined || state === 'settled') continue;
    const child = sessionAt(session, part);
    if (isLive(readField(child, 'status'))) collect(child, readFound(child), found);
  }
}

/**
 * Answers are addressed to the conversation; returns the session that made the call, which may be a
 * sub-agent's.
 */
export function ownerOf(session: Session, id: string): Session {
  if (redis.call('HEXISTS', session.calls, `state:${id}`) === 1) return session;
  if (redis.call('SISMEMBER', session.settled, id) === 1) return session;
  const owner = redis.call('HGET', session.owners, id);
  return owner === false ? session : sessionAt(session, partOfOwner(owner));
}

/** Notes that a sub-agent made a call, so that it can be found by its id. */
export function noteOwner(session: Session, id: string): void {
  const owner = redis.call('HGET', session.owners, id);
  if (owner === false || partOfOwner(owner) !== session.part) {
    redis.call('HSET', session.owners, id, session.part);
  }
}

/** Stored as the part of the sub-agent's id and an identifier of the call within it. */
function partOfOwner(owner: string): string {
  const space = owner.indexOf(' ');
  return space < 0 ? owner : owner.slice(0, space);
}
