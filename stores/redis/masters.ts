import type { Redis } from 'ioredis';
import type { RedisConnection } from './clients.js';

/** The nodes on which functions must be loaded: every master of a cluster. */
export function mastersOf(redis: RedisConnection): Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}
