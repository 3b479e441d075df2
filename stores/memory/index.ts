import type { Store } from '../contract/store.js';
import type { StreamManager } from '../log/stream-manager.js';
import { createStreamManager } from '../log/create-stream-manager.js';
import { createMemoryData, type MemoryOptions } from './memory-data.js';
import { createMemorySessionStore } from './session-store.js';
import { createMemoryStreamLog } from './stream-log.js';

export { createMemoryData, type MemoryData, type MemoryOptions } from './memory-data.js';
export { InMemoryStateStore, InMemoryStreamManager } from './seed-classes.js';

export interface MemoryStores {
  store: Store;
  streamManager: StreamManager;
}

/** Both stores in this process's memory, for tests and for programs of one process. */
export function createMemoryStores(options: MemoryOptions = {}): MemoryStores {
  const data = createMemoryData(options);
  return {
    store: createMemorySessionStore(data),
    streamManager: createStreamManager(createMemoryStreamLog(data)),
  };
}
