import { redis } from './host.js';
import { readCallsField, type CallWith } from './calls.js';
import { isLive, readField } from './root.js';
import { sessionAt, type Session } from './session.js';

/** A session with the states of its calls at the time of the walk. */
export interface Found {
  session: Session;
  states: CallWith[];
}

/** A session, then each active or waiting sub-agent's below it, in the order of the calls. */
export function sessionsBelow(session: Session): Found[] {
  const found: Found[] = [];
  collect(session, found);
  return found;
}

function collect(session: Session, found: Found[]): void {
  const states = readCallsField(session, 'state');
  found.push({ session, states });
  if (states.length === 0) return;
  const children = readCallsField(session, 'child');
  for (let at = 0; at < states.length; at += 1) {
    const part = children[at]?.value;
    if (part === undefined || states[at]?.value === 'settled') continue;
    const child = sessionAt(session, part);
    if (isLive(readField(child, 'status'))) collect(child, found);
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
