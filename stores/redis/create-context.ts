import type { Cluster, Redis } from 'ioredis';
import { LIMITS } from '../../protocol/limits.js';
import type { Commands } from './commands.js';
import type { RedisContext } from './context.js';
import { gatherWrites } from './gather-writes.js';
import { createKeySpace } from './keys.js';
import { createRunLibrary } from './run-library.js';
import { createTransitions, type Expiry } from './transitions.js';

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

/** How long what has ended is kept, unless the options say otherwise. */
export function toExpiry({ streamTtlSeconds, sessionTtlSeconds }: RedisStoreOptions): Expiry {
  return {
    streamTtlSeconds: streamTtlSeconds ?? STREAM_TTL_SECONDS,
    sessionTtlSeconds: sessionTtlSeconds ?? 0,
  };
}

/** Names, transitions and limits for one connection. */
export function createContext(
  redis: Redis | Cluster,
  options: RedisStoreOptions = {},
): RedisContext {
  const keys = createKeySpace(options.prefix);
  return {
    // Its overloads by option say the same; a list of options fits none of them.
    redis: redis as unknown as Commands,
    keys,
    transitions: createTransitions(createRunLibrary(redis), keys, toExpiry(options)),
    maxEntries: options.maxChunks ?? LIMITS.streamEntries,
    now: Date.now,
    gatherWrites: () => {
      gatherWrites(redis);
    },
  };
}
