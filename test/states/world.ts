import type { Store } from '../../stores/contract/store.js';
import { createMemoryData, createStoresOn, type MemoryData } from '../../stores/memory/index.js';
import { drive, type SessionDriver } from '../support/session-driver.js';
import { readStored, type StoredSession } from './stored-session.js';

export const SESSION = 'explored';

/** One session in a store of its own, with a clock that the test sets. */
export interface World {
  data: MemoryData;
  clock: { now: number };
}

export function createWorld(): World {
  // Ahead of the clock of the driver, some of whose calls take the machine's.
  const clock = { now: Date.now() + 3_600_000 };
  return { clock, data: createMemoryData({ now: () => clock.now }) };
}

export function storeOf({ data }: World): Store {
  return createStoresOn(data).store;
}

/** The session, driven transition by transition. */
export function driverOf({ data }: World): SessionDriver {
  return drive(createStoresOn(data), SESSION);
}

/** What is stored; undefined before the first message. */
export function recordOf({ data }: World): StoredSession | undefined {
  return readStored(data.keyspace, SESSION);
}
