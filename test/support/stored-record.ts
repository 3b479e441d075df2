import type { Redis } from 'ioredis';
import type { Call, SessionRecord } from '../../session/record.js';
import { newNonce } from './session-driver.js';

type Reads = Pick<Redis, 'hget'>;

/** Reads a conversation's stored record without its snapshot; undefined before it exists. */
export async function storedRecord(
  redis: Reads,
  sessionId: string,
): Promise<SessionRecord | undefined> {
  const text = await redis.hget(`hx:{${sessionId}}:root`, 'record');
  return text === null ? undefined : (JSON.parse(text) as SessionRecord);
}

/** Reads a stored call of the newest step. */
export async function storedCall(
  redis: Reads,
  sessionId: string,
  toolCallId: string,
): Promise<Call | undefined> {
  const text = await redis.hget(`hx:{${sessionId}}:root`, `call:${toolCallId}`);
  return text === null ? undefined : (JSON.parse(text) as Call);
}

/** Writes a field as a new version unless it has changed meanwhile. */
const SWAP = `
if (redis.call('HGET', KEYS[1], ARGV[1]) or '{}') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3], 'v', ARGV[4], unpack(ARGV, 5))
return 1`;

/** Changes a JSON field and keeps the product's concurrent writes. */
async function swap<Value>(
  redis: Redis,
  sessionId: string,
  field: string,
  change: (value: Value) => readonly string[],
): Promise<void> {
  const key = `hx:{${sessionId}}:root`;
  for (;;) {
    const before = (await redis.hget(key, field)) ?? '{}';
    const value = JSON.parse(before) as Value;
    const others = change(value);
    const after = JSON.stringify(value);
    const stored = await redis.eval(SWAP, 1, key, field, before, after, newNonce(), ...others);
    if (stored === 1) return;
  }
}

/** Changes the record of a conversation behind its store's back, as another process might. */
export async function plant(
  redis: Redis,
  sessionId: string,
  change: (record: SessionRecord) => void,
): Promise<void> {
  const live = (await redis.hget(`hx:{${sessionId}}:root`, 'live')) ?? '';
  await swap<SessionRecord>(redis, sessionId, 'record', (record) => {
    const { layout } = record;
    change(record);
    const others = ['appended', '0'];
    if (record.layout === layout) return others;
    return [...others, 'live', [record.layout, ...live.split(' ').slice(1)].join(' ')];
  });
}

/** Plants a session that has been silent since then. */
export function plantSilence(redis: Redis, sessionId: string, since: number): Promise<void> {
  return plant(redis, sessionId, (record) => {
    record.updated = since;
  });
}
