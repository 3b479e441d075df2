import { EventEmitter } from 'node:events';
import type { FilePlace, FileStore } from '../contract/files.js';
import type { Store } from '../contract/store.js';
import { createStreamManager } from '../log/create-stream-manager.js';
import type { StreamManager } from '../log/stream-manager.js';
import { completeContext, type Expiry } from '../redis/context.js';
import { createKeySpace } from '../redis/keys.js';
import { createRedisSessionStore } from '../redis/session-store.js';
import { createRedisStreamLog } from '../redis/stream-log.js';
import type { LocalSubscriber } from '../redis/tail/channels.js';
import { createKeyspace, type Keyspace } from './keyspace.js';
import { createLocalAtomic, createLocalCommands } from './local-redis.js';

export interface MemoryOptions extends Expiry {
  /** Keys that sign the entries of the audit trail. Default: none. */
  auditKeys?: readonly string[];
  /** Storage for the bytes of files. Default: in memory. */
  files?: FileStore;
  /** The store's clock, ms since the epoch. Default the machine's. */
  now?: () => number;
}

/** Data shared by a store and a stream manager that belong together. */
export interface MemoryData {
  readonly now: () => number;
  readonly options: Omit<MemoryOptions, 'now' | 'files'>;
  /** All data, in the form in which Redis would hold it. */
  readonly keyspace: Keyspace;
  readonly files: FileStore;
  /** Wakes the followers of streams, and delivers stops. */
  readonly channels: ReturnType<typeof createLocalChannels>;
}

/**
 * Creates data that several memory stores may share.
 *
 * @example
 * import { createMemoryData, createStoresOn } from 'helix-temporal/store-memory';
 *
 * // Two processes of a deployment, as a test plays them.
 * const data = createMemoryData();
 * const api = createStoresOn(data);
 * const worker = createStoresOn(data);
 */
export function createMemoryData({
  files = createMemoryFileStore(),
  now = Date.now,
  ...options
}: MemoryOptions = {}): MemoryData {
  const channels = createLocalChannels();
  const keyspace = createKeyspace({ now, publish: channels.publish });
  return { now, options, keyspace, files, channels };
}

/** Publish/subscribe within this process. */
function createLocalChannels() {
  // A stream has as many followers as viewers.
  const events = new EventEmitter().setMaxListeners(0);
  return {
    publish: (channel: string, message: string) => {
      events.emit('smessage', channel, message);
    },
    // A subscriber receives all channels; the receiver filters.
    subscriber: (): LocalSubscriber => ({
      on: (event, listener) => events.on(event, listener),
      ssubscribe: async () => 1,
      sunsubscribe: async () => 1,
      ping: async () => 'PONG',
      options: {},
      status: 'ready',
    }),
  };
}

/** Keeps the bytes of files in this process's memory. */
function createMemoryFileStore(): FileStore {
  const contents = new Map<string, Uint8Array>();
  const nameOf = ({ sessionId, fileId }: FilePlace): string => `${sessionId}/${fileId}`;
  return {
    write: async (place, content) => {
      contents.set(nameOf(place), Uint8Array.from(content));
    },
    read: async (place, { from, to }) => contents.get(nameOf(place))?.slice(from, to),
    remove: async (place) => {
      contents.delete(nameOf(place));
    },
  };
}

export interface MemoryStores {
  store: Store;
  streamManager: StreamManager;
}

/**
 * Creates both stores in this process's memory, for tests and for programs of one process.
 *
 * @example
 * import { createMemoryStores } from 'helix-temporal/store-memory';
 *
 * const { store, streamManager } = createMemoryStores({ sessionTtlSeconds: 3600 });
 */
export function createMemoryStores(options: MemoryOptions = {}): MemoryStores {
  return createStoresOn(createMemoryData(options));
}

/**
 * Creates both stores on data that may be shared with other stores.
 *
 * @example
 * import { createMemoryData, createStoresOn } from 'helix-temporal/store-memory';
 *
 * const data = createMemoryData({ maxChunks: 1_000 });
 * const { store, streamManager } = createStoresOn(data);
 */
export function createStoresOn(data: MemoryData): MemoryStores {
  const { keyspace, options, now, files, channels } = data;
  const redis = createLocalCommands(keyspace);
  const own = {
    data,
    redis,
    reads: redis,
    now,
    keys: createKeySpace(),
    ...createLocalAtomic(keyspace),
    fileStore: files,
    keepsFilesElsewhere: true,
  };
  const context = completeContext(own, options);
  return {
    store: createRedisSessionStore(context),
    streamManager: createStreamManager(createRedisStreamLog(context, channels.subscriber())),
  };
}
