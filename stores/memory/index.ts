import { createMemoryData, type MemoryOptions } from './memory-data.js';
import { createStoresOn, type MemoryStores } from './stores-on.js';

export { createMemoryData, type MemoryData, type MemoryOptions } from './memory-data.js';
export { createStoresOn, type MemoryStores } from './stores-on.js';
export { InMemoryStateStore, InMemoryStreamManager } from './helix-classes.js';

/** Both stores in this process's memory, for tests and for programs of one process. */
export function createMemoryStores(options: MemoryOptions = {}): MemoryStores {
  return createStoresOn(createMemoryData(options));
}
