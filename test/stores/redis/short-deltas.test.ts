import { Redis } from 'ioredis';
import { openRedisStores } from '../../../stores/redis/open-stores.js';
import { answers } from '../../support/open-stores.js';
import { drive, newNonce } from '../../support/session-driver.js';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const url = sharedRedisUrl();
const prefix = `t${newNonce()}`;
const redis = new Redis(url);
const stores = openRedisStores({ url, whenAway: 'wait', prefix });

afterAll(async () => {
  await stores.close();
  redis.disconnect();
});

it('a delta of five letters takes at most 75 bytes in Redis', async () => {
  await until('Redis answers', () => answers(stores));
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  const session = drive(stores, id);
  const { runId } = await session.newRun(newNonce());
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  const base = { agentId: id, agentType: 'assistant', step: 1, timestamp: Date.now() };
  const delta = { type: 'text_delta' as const, ...base, delta: 'hello' };
  const page = Array.from({ length: 500 }, () => delta);
  for (let batch = 1; batch <= 10; batch += 1) {
    await stores.streamManager.append(writer, batch, page);
  }
  const bytes = await redis.memory('USAGE', `${prefix}:{${id}}:stream`, 'SAMPLES', 0);
  expect(Number(bytes) / 5_000).toBeLessThanOrEqual(75);
});
