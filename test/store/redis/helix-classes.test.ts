import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { ConfigurationError } from '../../../ai-sdk/index.js';
import { createInProcessExecutor } from '../../../extensions/one-process/index.js';
import { textChunk } from '../../../store/conformance/fixtures.js';
import { joinParts } from '../../../store/contract/shared-data.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { RedisStateStore, RedisStreamManager } from '../../../store/redis/index.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { createTestAgent } from '../../support/test-agent.js';
import { drive } from '../../support/session-driver.js';

let redis: Redis;
beforeAll(() => {
  redis = new Redis(sharedRedisUrl());
});
afterAll(() => redis.quit());

it('the state store says how long the streams of sessions are kept, and how many entries', async () => {
  const store = new RedisStateStore(redis, { streamTtl: 3_600, maxChunks: 5 });
  const streamManager = new RedisStreamManager(redis);
  const session = drive({ store, streamManager });
  const key = `hx:{${session.id}}:stream`;
  for (const turn of [1, 2, 3]) {
    const { runId } = await session.newRun(`u${String(turn)}`);
    const writer = session.writer(runId, 1, turn);
    await session.claim(writer);
    for (let batch = 1; batch <= 5; batch += 1) await session.say(writer, batch, 'x');
    await session.end(runId, 'completed');
  }
  expect(await redis.xlen(key)).toBeLessThan(15);
  const ttl = await redis.ttl(key);
  expect([ttl > 3_000, ttl <= 3_600]).toEqual([true, true]);
  await streamManager.close();
});

it('the stream manager says it for streams of its own', async () => {
  const streams = new RedisStreamManager(redis, { ttl: 60 });
  const id = `own-${String(process.pid)}`;
  const writer = await streams.createWriter(id, id, 'agent');
  await writer.write(textChunk('x'));
  await streams.endStream(id);
  const ttl = await redis.ttl(`hx:{${id}}:stream`);
  expect([ttl > 30, ttl <= 60]).toEqual([true, true]);
  await streams.close();
});

it('stores of other keys are refused by name', async () => {
  const own = (prefix?: string): RedisStateStore => new RedisStateStore(redis, { prefix });
  const streams: RedisStreamManager = new RedisStreamManager(redis, { prefix: 'other' });
  joinParts(own('other'), streams);
  expect(() => {
    joinParts(own(), streams);
  }).toThrow('Redis, database 0, prefix hx, another on Redis, database 0, prefix other');
  const second = redis.duplicate({ db: 1, lazyConnect: true });
  expect(() => {
    joinParts(new RedisStateStore(second, { prefix: 'other' }), streams);
  }).toThrow('database 1');
  second.disconnect();
  await streams.close();
});

it('a stream manager on another server is found with the first run', async () => {
  const store = new RedisStateStore(redis);
  const { streamManager } = createMemoryStores();
  // Without marks, the executor cannot tell beforehand that the servers differ.
  const elsewhere = { ...streamManager };
  for (const mark of Object.getOwnPropertySymbols(elsewhere))
    Reflect.deleteProperty(elsewhere, mark);
  const agents = [createTestAgent().agent];
  const executor = createInProcessExecutor({ agents, stores: { store, streamManager: elsewhere } });
  await expect(executor.execute('tester', 'hello')).rejects.toBeInstanceOf(ConfigurationError);
  await executor.close();
});

it('a program that closes its connection is kept alive by nothing', async () => {
  const script = fileURLToPath(new URL('./use-and-leave.mjs', import.meta.url));
  // A process that does not end is killed, and `execFile` rejects.
  await promisify(execFile)(process.execPath, [script, sharedRedisUrl()], { timeout: 20_000 });
});
