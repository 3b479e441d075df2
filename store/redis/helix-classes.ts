import type { Store } from '../contract/store.js';
import type { StreamManager } from '../log/stream-manager.js';
import { createStreamManager } from '../log/create-stream-manager.js';
import { toHelixStateStore, type HelixStateStore } from '../record/helix-state-store.js';
import { closeClient, type RedisConnection, duplicateForSubscriptions } from './clients.js';
import { createContext } from './context.js';
import { createRedisSessionStore } from './session-store.js';
import { createRedisStreamLog } from './stream-log.js';

/**
 * A client of ioredis 5 or 6: single, behind Sentinels, or a cluster. Only members of both versions appear here,
 * because the types of one do not accept a client of the other.
 */
export interface RedisClient {
  readonly status: string;
  disconnect(reconnect?: boolean): void;
  duplicate(...overrides: never[]): unknown;
  ssubscribe(...channels: never[]): unknown;
  evalsha(...command: never[]): unknown;
}

/** Options with the names that the Helix packages use; times in seconds. */
export interface RedisStateStoreOptions {
  /** Prefix of all keys. Default `hx`; both stores of a session need the same one. */
  prefix?: string;
  /** Retention of a session after its last run. Default: forever. */
  ttl?: number;
  /** Retention of an ended run's stream. Default one day. */
  streamTtl?: number;
  /** Entries of a session's stream before whole old turns are trimmed. Default 10,000; 0: never. */
  maxChunks?: number;
}

/** Options for streams without a session. Streams of sessions follow the options of the state store. */
export interface RedisStreamManagerOptions {
  prefix?: string;
  /** Retention of a stream after its end, seconds. Default one day. */
  ttl?: number;
}

export type RedisStateStore = HelixStateStore & Store;

/** A store on a connection of the caller, grouped by noun and with the method names of the Helix state store. */
export const RedisStateStore = class RedisStateStore {
  constructor(
    redis: RedisClient,
    { prefix, ttl, streamTtl, maxChunks }: RedisStateStoreOptions = {},
  ) {
    const options = { prefix, sessionTtlSeconds: ttl, streamTtlSeconds: streamTtl, maxChunks };
    const store = createRedisSessionStore(createContext(redis as RedisConnection, options));
    Object.assign(this, store, toHelixStateStore(store));
  }
} as unknown as new (redis: RedisClient, options?: RedisStateStoreOptions) => RedisStateStore;

/** A stream manager that also closes the subscription connection that it opened itself. */
export type RedisStreamManager = StreamManager & { close: () => Promise<void> };

/** A stream manager on a connection of the caller. Without a `subscriber` it opens its own, which `close` closes. */
export const RedisStreamManager = class RedisStreamManager {
  constructor(
    client: RedisClient,
    second?: RedisClient | RedisStreamManagerOptions,
    third?: RedisStreamManagerOptions,
  ) {
    const redis = client as RedisConnection;
    const provided = isConnection(second) ? (second as RedisConnection) : undefined;
    const { prefix, ttl } = third ?? (isConnection(second) ? {} : (second ?? {}));
    const context = createContext(redis, { prefix, streamTtlSeconds: ttl });
    const subscriber = provided ?? duplicateForSubscriptions(redis);
    Object.assign(this, createStreamManager(createRedisStreamLog(context, subscriber)), {
      close: async () => {
        if (provided === undefined) closeClient(subscriber);
      },
    });
  }
} as unknown as new (
  redis: RedisClient,
  subscriberOrOptions?: RedisClient | RedisStreamManagerOptions,
  options?: RedisStreamManagerOptions,
) => RedisStreamManager;

function isConnection(value: object | undefined): value is RedisClient {
  return value !== undefined && 'ssubscribe' in value;
}
