import type { Redis } from 'ioredis';
import type { RedisConnection } from './clients.js';

/** Every master of a cluster, or the one server. */
export function mastersOf(redis: RedisConnection): Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}
