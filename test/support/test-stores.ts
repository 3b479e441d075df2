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

const opened: RedisStores[] = [];

/** Closes open stores, for tests that stop their servers before the file ends. */
export async function closeStores(): Promise<void> {
  await Promise.all(opened.splice(0).map((stores) => stores.close()));
}

/** Opens both stores on any Redis once they answer; they close after the file's tests. */
export async function openStores(
  url: string,
  process: 'api' | 'worker' = 'worker',
  options: { sessionTtlSeconds?: number } = {},
): Promise<RedisStores> {
  const whenAway = process === 'api' ? 'refuse' : 'wait';
  const stores = createRedisStores({ url, whenAway, ...options });
  opened.push(stores);
  atEndOfFile(closeStores);
  await until('Redis answers', () => answers(stores));
  return stores;
}

export function answers(stores: RedisStores): Promise<boolean> {
  return stores.ping().then(
    () => true,
    () => false,
  );
}

/** Opens both stores on the shared Redis, with a plain client beside them. */
export async function openTestStores(
  process: 'api' | 'worker' = 'worker',
  url = sharedRedisUrl(),
): Promise<TestStores> {
  const redis = connect(url);
  atEndOfFile(() => {
    redis.disconnect();
  });
  const stores = await openStores(url, process);
  return { ...stores, stateStore: stores.store, redis };
}

/** Creates stores on the shared Redis that outlive the file's tests. */
export function createTestStores(): TestStores {
  const url = sharedRedisUrl();
  const stores = createRedisStores({ url, whenAway: 'wait' });
  return { ...stores, stateStore: stores.store, redis: connect(url) };
}

function connect(url: string): Redis {
  const redis = new Redis(url);
  redis.on('error', () => undefined);
  return redis;
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
