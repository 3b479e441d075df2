import type { Store } from '../contract/store.js';
import { createStreamManager } from '../log/create-stream-manager.js';
import type { StreamManager } from '../log/stream-manager.js';
import { createRedisSessionStore } from '../redis/session-store.js';
import { createRedisStreamLog } from '../redis/stream-log.js';
import { createMemoryContext } from './create-context.js';
import type { MemoryData } from './memory-data.js';

export interface MemoryStores {
  store: Store;
  streamManager: StreamManager;
}

/** Both stores on data that others may share. */
export function createStoresOn(data: MemoryData): MemoryStores {
  const context = createMemoryContext(data);
  return {
    store: createRedisSessionStore(context),
    streamManager: createStreamManager(createRedisStreamLog(context, data.channels.subscriber())),
  };
}
