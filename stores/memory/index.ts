import { createMemoryData, type MemoryOptions } from './memory-data.js';
import { createStoresOn, type MemoryStores } from './stores-on.js';

export { createMemoryData, type MemoryData, type MemoryOptions } from './memory-data.js';
export { createStoresOn, type MemoryStores } from './stores-on.js';
export { InMemoryStateStore, InMemoryStreamManager } from './helix-classes.js';

/**
 * Both stores in this process's memory, for tests and for programs of one process.
 *
 * @example
 * import { createMemoryStores } from 'helix-temporal/store-memory';
 *
 * const { store, streamManager } = createMemoryStores({ sessionTtlSeconds: 3600 });
 */
export function createMemoryStores(options: MemoryOptions = {}): MemoryStores {
  return createStoresOn(createMemoryData(options));
}
