import { writerOf, jsonOf } from '../../store/redis/entries.js';
import type { Keyspace } from '../../store/memory/keyspace.js';
import type { Store } from '../../store/contract/store.js';
import { createMemoryData, createStoresOn, type MemoryData } from '../../store/memory/index.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { drive, type SessionDriver } from '../support/session-driver.js';
import { readStored, type Stored } from './model/invariants/stored.js';
import { SESSION } from './model/plan.js';
import { NOTHING, type Data } from './model/record/data.js';

/** One session in its own store, with a clock that the test sets. */
export interface World {
  data: MemoryData;
  clock: { now: number };
}

export function createWorld(): World {
  // The clock runs ahead of the driver's, since some of the driver's calls use the machine's.
  const clock = { now: Date.now() + 3_600_000 };
  return { clock, data: createMemoryData({ now: () => clock.now }) };
}

export function storeOf({ data }: World): Store {
  return createStoresOn(data).store;
}

export function driverOf({ data }: World): SessionDriver {
  return drive(createStoresOn(data), SESSION);
}

/** Returns the stored data as the model's invariants read it. */
export function storedIn({ data }: World): Stored {
  return readStored(dataOf(data.keyspace));
}

const KEYS = createKeySpace().session(SESSION);
const PLACES = [
  ['record', KEYS.root],
  ...(['writers', 'index', 'content', 'runs'] as const).map(
    (place) => [place, KEYS[place]] as const,
  ),
] as const;

function dataOf(keyspace: Keyspace): Data {
  const places = PLACES.map(([place, key]): [string, Map<string, string>] => {
    const flat = keyspace.call('HGETALL', key) as string[];
    const pairs = flat.flatMap((name, at) =>
      at % 2 === 0 ? [[name, flat[at + 1] ?? ''] as const] : [],
    );
    return [`:${place}`, new Map(pairs)];
  });
  const entries = keyspace.call('XRANGE', KEYS.stream, '-', '+') as [string, string[]][];
  const expires = (keyspace.call('PTTL', KEYS.stream) as number) >= 0;
  return {
    ...NOTHING,
    places: new Map(places),
    rows: new Map([['', keyspace.call('LRANGE', KEYS.rows, 0, -1) as string[]]]),
    log: entries.map(([id, fields]) => [Number.parseInt(id), writerOf(fields), jsonOf(fields)]),
    expiring: new Set(expires ? [':log'] : []),
  };
}
