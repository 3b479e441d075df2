import { Redis } from 'ioredis';
import { createRedisStores, type RedisStores } from '../../store/redis/index.js';

import { until } from './until.js';

export function sharedRedisUrl(): string {
  const url = process.env['TEST_REDIS_URL'];
  if (url === undefined) throw new Error('TEST_REDIS_URL is not set: run the tests with npm test');
  return url;
}

export interface TestStores extends RedisStores {
  redis: Redis;
  /** The store under the name that the bridge expects. */
  stateStore: RedisStores['store'];
}

/** Opens both stores on a real Redis once they answer; they close after the file's tests. */
export async function openTestStores(
  process: 'api' | 'worker' = 'worker',
  url = sharedRedisUrl(),
): Promise<TestStores> {
  const stores = createRedisStores({ url, whenAway: process === 'api' ? 'refuse' : 'wait' });
  const redis = new Redis(url);
  redis.on('error', () => undefined);
  atEndOfFile(async () => {
    redis.disconnect();
    await stores.close();
  });
  await until('Redis answers', () =>
    stores.ping().then(
      () => true,
      () => false,
    ),
  );
  return { ...stores, stateStore: stores.store, redis };
}

/** Returns a proxy for an object that a hook creates later; until then it has no members. */
export function lateBound<T extends object>(read: () => T | undefined): T {
  const made = (): T => {
    const found = read();
    if (found === undefined) throw new Error('it is not up yet: tests and hooks only may use it');
    return found;
  };
  return new Proxy({} as T, {
    get: (_, name): unknown => Reflect.get(made(), name),
    has: (_, name) => Reflect.has(made(), name),
    ownKeys: () => Reflect.ownKeys(made()),
    getOwnPropertyDescriptor: (_, name) => ({
      ...Reflect.getOwnPropertyDescriptor(made(), name),
      configurable: true,
    }),
  });
}
