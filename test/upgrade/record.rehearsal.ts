import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { openRedisStores } from '../../stores/redis/open-stores.js';
import { answers } from '../support/open-stores.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { drive } from '../support/session-driver.js';
import { until } from '../support/until.js';
import { dumpDeployment, readSession, toFile } from '../stores/redis/upgrade/recorded.js';
import { STATES } from './recording/states.js';
import { openFormerStores } from './support/former-release.js';

/**
 * Brings sessions of release 0.2.0 into many states. With RECORD_UPGRADE=1 they are kept as dumps, which
 * the upgrade tests of test/stores/redis continue.
 */
const isKept = process.env['RECORD_UPGRADE'] !== undefined;
const folder = fileURLToPath(new URL('../stores/redis/upgrade/', import.meta.url));

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis.disconnect();
  await server.close();
});

describe('sessions of release 0.2.0', () => {
  it.each(Object.entries(STATES))('%s', async (name, bring) => {
    await redis.flushall();
    const former = await openFormerStores(server.url);
    const today = openRedisStores({ url: server.url, whenAway: 'wait' });
    await until('Redis answers', () => answers(today));
    const session = drive(former, `upgraded-${name}`);
    await former.store.due.note(session.id, 0);
    await bring(session, former, drive(today, session.id));
    await today.close();
    const keys = await dumpDeployment(redis, 'hx');
    const text = toFile({ keys, read: await readSession(former, session.id) });
    await former.close();
    expect(text.length).toBeLessThan(60_000);
    if (isKept) writeFileSync(`${folder}${name}.json`, text);
  });
});
