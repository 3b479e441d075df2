import type { Store } from '../contract/store.js';
import { createStreamManager } from '../log/create-stream-manager.js';
import type { StreamManager } from '../log/stream-manager.js';
import { createRedisSessionStore } from '../redis/session-store.js';
import { createRedisStreamLog } from '../redis/stream-log.js';
import type { MemoryData } from './memory-data.js';
import type { RedisContext } from '../redis/context.js';
import { createConversations } from '../redis/conversations.js';
import { createKeySpace } from '../redis/keys.js';
import { createWriteIf } from '../../store/redis/write-if.js';
import { createLocalCommands } from './local-commands.js';
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

/** Runs the scripts' work directly on an in-process keyspace. */
function createMemoryContext(data: MemoryData): RedisContext {
  const { keyspace, options, now, files } = data;
  const keys = createKeySpace();
  const evaluate = evaluateOn(keyspace);
  const redis = createLocalCommands(keyspace);
  return {
    data,
    redis,
    reads: redis,
    keys,
    evaluate,
    ...createConversations({ evaluate }, keys, options),
    writeIf: createWriteIf(evaluate),
    now,
    audit: { keys: options.auditKeys, keptMs: toKeptMs(options.auditTtlSeconds) },
    fileStore: files,
    keepsFilesElsewhere: true,
    corkWrites: () => undefined,
  };
}
