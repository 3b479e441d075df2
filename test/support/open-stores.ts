import { createRedisStores, type RedisStores } from '../../store/redis/index.js';
import { until } from './until.js';

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
  const stores = createRedisStores({
    url,
    whenAway: process === 'api' ? 'refuse' : 'wait',
    ...options,
  });
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
