export { createMemoryData, createMemoryStores, createStoresOn } from './stores.js';
export type { MemoryData, MemoryOptions, MemoryStores } from './stores.js';
export { InMemoryStateStore, InMemoryStreamManager } from './helix-classes.js';
