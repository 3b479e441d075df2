import { redis } from './host.js';
import { readRoot } from './root.js';
import type { Session } from './session.js';

/**
 * The agent's own state as it is stored: its version, its JSON ('' for version 0), and the fields
 * and values of the staged changes, one after the other.
 */
export type StoredState = [version: string, state: string, staged: string[]];

/** Reads the state at one moment. */
export function readStoredState(session: Session): StoredState {
  const { stateV = '0' } = readRoot(session, ['stateV']);
  const state = redis.call('HGET', session.states, stateV);
  return [stateV, state === false ? '' : state, redis.call('HGETALL', session.staged)];
}
