import type { Cluster, Redis } from 'ioredis';
import type { KeySpace } from './keys.js';
import type { Scripts } from './scripts.js';

/** What everything that works on one Redis shares. */
export interface RedisContext {
  redis: Redis | Cluster;
  keys: KeySpace;
  scripts: Scripts;
  /** Entries of a stream before whole old turns are trimmed; 0: never. */
  maxEntries: number;
}
