import { afterAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { openRedisStores, type RedisStores } from '../../../stores/redis/open-stores.js';
import { answers } from '../../support/open-stores.js';
import { drive, newNonce } from '../../support/session-driver.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';
import { formatCheckpointId } from '../../../protocol/ids.js';
import { textIn } from '../../../stores/conformance/fixtures.js';

const url = sharedRedisUrl();
const redis = new Redis(url);
const opened: RedisStores[] = [];

afterAll(async () => {
  await Promise.all(opened.map((stores) => stores.close()));
  redis.disconnect();
});

/** Processes of one deployment, with a prefix of their own. */
function deploy() {
  const prefix = `t${newNonce()}`;
  const open = async (recordLayout: number, release?: { layout: number }): Promise<RedisStores> => {
    const stores = openRedisStores({ url, whenAway: 'wait', prefix, recordLayout }, release);
    opened.push(stores);
    await until('Redis answers', () => answers(stores));
    return stores;
  };
  const fieldsOf = async (id: string): Promise<string[]> =>
    (await redis.xrange(`${prefix}:{${id}}:stream`, '-', '+')).map(([, [name = '']]) => name);
  return { prefix, open, fieldsOf };
}

async function speak(stores: RedisStores, words: readonly string[], id?: string) {
  const session = drive(stores, id);
  const { runId } = await session.newRun(newNonce());
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  for (const [n, word] of words.entries()) await session.say(writer, n + 1, word);
  return { session, runId, writer };
}

describe('a delta in Redis', () => {
  it('of five letters takes at most 75 bytes', async () => {
    const { prefix, open } = deploy();
    const stores = await open(2);
    const { streamManager } = stores;
    const id = '01234567-89ab-cdef-0123-456789abcdef';
    const { session, writer } = await speak(stores, [], id);
    const base = { agentId: id, agentType: 'assistant', step: 1, timestamp: Date.now() };
    const delta = { type: 'text_delta' as const, ...base, delta: 'hello' };
    const page = Array.from({ length: 500 }, () => delta);
    for (let batch = 1; batch <= 10; batch += 1) await streamManager.append(writer, batch, page);
    const stream = `${prefix}:{${session.id}}:stream`;
    const bytes = await redis.memory('USAGE', stream, 'SAMPLES', 0);
    expect(Number(bytes) / 5_000).toBeLessThanOrEqual(75);
  });

  it('is stored as release 0.2.0 reads it while its processes may live', async () => {
    const { open, fieldsOf } = deploy();
    const { session, writer } = await speak(await open(1), ['one ', 'two']);
    expect(await fieldsOf(session.id)).toEqual(['w', 'w']);
    const later = await open(2);
    await drive(later, session.id).say(writer, 3, ' three');
    expect(await fieldsOf(session.id)).toEqual(['w', 'w', 'm1']);
    expect(textIn(await session.log())).toBe('one two three');
  });

  it('is stored as a living process of layout 1 reads it', async () => {
    const { open, fieldsOf } = deploy();
    await open(2, { layout: 1 });
    const { session } = await speak(await open(2), ['one']);
    expect(await fieldsOf(session.id)).toEqual(['w']);
  });

  it('a delta belongs to a step that ends where the next begins, in sessions without notes of it', async () => {
    const { prefix, open } = deploy();
    const { session, writer } = await speak(await open(2), ['one ', 'two ']);
    await session.commit(writer, { calls: [], final: undefined });
    const second = session.writer(writer.runId, 2, 2);
    await session.claim(second);
    await session.say(second, 1, 'three');
    await session.commit(second);
    const checkpointId = formatCheckpointId(writer.runId, 1);
    const places = `${prefix}:{${session.id}}:places`;
    await redis.hdel(places, `e:${checkpointId}`);
    await session.rewindTo(checkpointId);
    expect(textIn(await session.log())).toBe('one two ');
  });
});
