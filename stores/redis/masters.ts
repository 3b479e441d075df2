import type { Redis } from 'ioredis';
import type { RedisConnection } from './clients.js';

/** Where functions are loaded: each master of a cluster has its own. */
export function mastersOf(redis: RedisConnection): Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}
