import {
  createMemoryData,
  createStoresOn,
  type MemoryOptions,
  type MemoryStores,
} from './stores.js';

export { createMemoryData, createStoresOn } from './stores.js';
export type { MemoryData, MemoryOptions, MemoryStores } from './stores.js';
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
