export { RedisStateStore, RedisStreamManager, type RedisClient } from './helix-classes.js';
export type { RedisStoreOptions } from './context.js';
export { createRedisStores, type RedisStores } from './open-stores.js';
