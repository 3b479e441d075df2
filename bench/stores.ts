import { createRedisStores, type RedisStores } from '../store/redis/index.js';

/** Stores on the Redis of a benchmark. */
export function openStores(url: string): RedisStores {
  return createRedisStores({ url, whenAway: 'wait' });
}
