import { createRedisStores, type RedisStores } from '../stores/redis/index.js';
import { RECORD_LAYOUT } from '../stores/transitions/lib/layout.js';

/** Stores on the Redis of a benchmark, which no process of an earlier release shares. */
export function openStores(url: string): RedisStores {
  return createRedisStores({ url, whenAway: 'wait', recordLayout: RECORD_LAYOUT });
}
