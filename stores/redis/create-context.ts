import type { Cluster, Redis } from 'ioredis';
import { LIMITS } from '../../protocol/limits.js';
import type { RedisContext } from './context.js';
import { createKeySpace } from './keys.js';
import { createScripts } from './scripts.js';

export interface RedisStoreOptions {
  /** Before all keys. Default `hx`. */
  prefix?: string;
  /** How long the stream of an ended run is kept, seconds. Default one day. */
  streamTtlSeconds?: number;
  /** How long a session is kept after its last run, seconds. Default 0: for ever. */
  sessionTtlSeconds?: number;
  /** Entries of a stream before whole old turns are trimmed. Default 10,000; 0: never. */
  maxChunks?: number;
}

const STREAM_TTL_SECONDS = 24 * 60 * 60;

/** Names, scripts and limits for one connection. */
export function createContext(
  redis: Redis | Cluster,
  options: RedisStoreOptions = {},
): RedisContext {
  return {
    redis,
    keys: createKeySpace(options.prefix),
    scripts: createScripts(redis, {
      streamTtlSeconds: options.streamTtlSeconds ?? STREAM_TTL_SECONDS,
      sessionTtlSeconds: options.sessionTtlSeconds ?? 0,
    }),
    maxEntries: options.maxChunks ?? LIMITS.streamEntries,
  };
}
