import type { Redis } from 'ioredis';
import type { Call, SessionRecord } from '../../session/record.js';
import { newNonce } from './session-driver.js';

type Reads = Pick<Redis, 'hget'>;

/** The record of a conversation as it is stored, without a look at its snapshot; undefined before it exists. */
export async function storedRecord(
  redis: Reads,
  sessionId: string,
): Promise<SessionRecord | undefined> {
  const text = await redis.hget(`hx:{${sessionId}}:root`, 'record');
  return text === null ? undefined : (JSON.parse(text) as SessionRecord);
}

/** The same of a call of its newest step. */
export async function storedCall(
  redis: Reads,
  sessionId: string,
  toolCallId: string,
): Promise<Call | undefined> {
  const text = await redis.hget(`hx:{${sessionId}}:root`, `call:${toolCallId}`);
  return text === null ? undefined : (JSON.parse(text) as Call);
}

/** Changes the record of a conversation behind its store's back, as time or another process does. */
export async function plant(
  redis: Redis,
  sessionId: string,
  change: (record: SessionRecord) => void,
): Promise<void> {
  const key = `hx:{${sessionId}}:root`;
  const record = JSON.parse((await redis.hget(key, 'record')) ?? '{}') as SessionRecord;
  change(record);
  const [, ...live] = ((await redis.hget(key, 'live')) ?? '').split(' ');
  await redis.hset(key, {
    record: JSON.stringify(record),
    live: [record.layout, ...live].join(' '),
    v: newNonce(),
    appended: 0,
  });
}

/** Nothing was written since then. */
export function plantSilence(redis: Redis, sessionId: string, since: number): Promise<void> {
  return plant(redis, sessionId, (record) => {
    record.updated = since;
  });
}

/** The same for a call of the conversation. */
export async function plantCall(
  redis: Redis,
  sessionId: string,
  toolCallId: string,
  change: (call: Call) => void,
): Promise<void> {
  const key = `hx:{${sessionId}}:root`;
  const field = `call:${toolCallId}`;
  const call = JSON.parse((await redis.hget(key, field)) ?? '{}') as Call;
  change(call);
  await redis.hset(key, { [field]: JSON.stringify(call), v: newNonce() });
}
