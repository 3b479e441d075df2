import type { Store } from '../contract/store.js';
import { createStreamManager } from '../log/create-stream-manager.js';
import type { StreamManager } from '../log/stream-manager.js';
import { createRedisSessionStore } from '../redis/session-store.js';
import { createRedisStreamLog } from '../redis/stream-log.js';
import type { MemoryData } from './memory-data.js';
import type { RedisContext } from '../redis/context.js';
import { createKeySpace, DEFAULT_PREFIX } from '../redis/keys.js';
import type { RunLibrary } from '../redis/run-library.js';
import { createConversations, createTransitions } from '../redis/transitions.js';
import { runOn, type Host } from '../transitions/lib/host.js';
import { run } from '../transitions/library.js';
import { decode, encode } from './keyspace/cjson.js';
import type { Keyspace } from './keyspace/keyspace.js';
import { createLocalCommands, toWireText } from './local-commands.js';
import { evaluateOn } from './local-scripts.js';
import { toKeptMs } from '../record/audit-ttl.js';

export interface MemoryStores {
  store: Store;
  streamManager: StreamManager;
}

/**
 * Both stores on data that may be shared with other stores.
 *
 * @example
 * import { createMemoryData, createStoresOn } from 'helix-temporal/store-memory';
 *
 * const data = createMemoryData({ maxChunks: 1_000 });
 * const { store, streamManager } = createStoresOn(data);
 */
export function createStoresOn(data: MemoryData): MemoryStores {
  const context = createMemoryContext(data);
  return {
    store: createRedisSessionStore(context),
    streamManager: createStreamManager(createRedisStreamLog(context, data.channels.subscriber())),
  };
}

/** Runs the transitions directly on an in-process keyspace. */
function createMemoryContext(data: MemoryData): RedisContext {
  const { keyspace, options, now, files } = data;
  const keys = createKeySpace();
  const conversations = createConversations(evaluateOn(keyspace), DEFAULT_PREFIX, options);
  const redis = createLocalCommands(keyspace);
  return {
    data,
    redis,
    reads: redis,
    keys,
    transitions: createTransitions(runInProcess(keyspace, now), keys, conversations),
    change: conversations.change,
    make: conversations.make,
    maxEntries: options.maxChunks,
    now,
    audit: { keys: options.auditKeys, keptMs: toKeptMs(options.auditTtlSeconds) },
    fileStore: files,
    keepsFilesElsewhere: true,
    corkWrites: () => undefined,
  };
}

/** Expired keys that are never read are dropped this often. */
const SWEEP_MS = 60_000;

function runInProcess(keyspace: Keyspace, now: () => number): RunLibrary {
  const host: Host = {
    call: keyspace.call,
    encode,
    decode,
    byteLength: (text: string) => Buffer.byteLength(text),
  };
  let sweptAt = now();
  return async (_mode, keys, args) => {
    if (now() - sweptAt >= SWEEP_MS) {
      sweptAt = now();
      // DBSIZE drops expired keys.
      keyspace.call('DBSIZE');
    }
    return runOn(host, () => run(keys, args.map(toWireText)));
  };
}
