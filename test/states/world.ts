import type { StreamMessage } from '../../protocol/chunk.js';
import { rootOf } from '../../protocol/ids.js';
import type { Row } from '../../protocol/rows.js';
import type { SessionRecord } from '../../session/record.js';
import { jsonOf } from '../../store/redis/entries.js';
import type { Keyspace } from '../../stores/memory/keyspace/keyspace.js';
import { createKeySpace } from '../../stores/redis/keys.js';
import { toMessage } from '../../stores/redis/short-deltas.js';
import type { Store } from '../../stores/contract/store.js';
import { createMemoryData, createStoresOn, type MemoryData } from '../../stores/memory/index.js';
import { drive, type SessionDriver } from '../support/session-driver.js';

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

/** A session as it is stored, read at once: what tests look at that decide by more than a record. */
export interface StoredSession {
  record: SessionRecord;
  rows: Row[];
  /** Ids of the calls of the newest committed step, in their order. */
  calls: string[];
  /** How many runs have ended. */
  endedRuns: number;
  log: StreamMessage[];
}

const KEYS = createKeySpace();

function readStored(keyspace: Keyspace, sessionId: string): StoredSession | undefined {
  const keys = KEYS.session(sessionId);
  const stored = keyspace.call('HMGET', keys.root, 'record', 'order') as (string | false)[];
  const [record, order] = stored.map((text) => JSON.parse(text || '[]') as unknown);
  if ((record as SessionRecord).agent === undefined) return undefined;
  const rows = keyspace.call('LRANGE', keys.rows, 0, -1) as string[];
  const entries = keyspace.call('XRANGE', keys.stream, '-', '+') as [string, string[]][];
  return {
    record: record as SessionRecord,
    rows: rows.map((row) => JSON.parse(row) as Row),
    calls: order as string[],
    endedRuns: keyspace.call('HLEN', keys.runs) as number,
    log: entries.map(([, fields]) => parse(jsonOf(fields), rootOf(sessionId))),
  };
}

function parse(json: string, conversationId: string): StreamMessage {
  const message = toMessage(JSON.parse(json), conversationId);
  if (message === undefined) throw new Error(`no message: ${json}`);
  return message;
}
