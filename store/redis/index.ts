import { openRedisStores, type ConnectionOptions, type RedisStores } from './open-stores.js';

export { RedisStateStore, RedisStreamManager, type RedisClient } from './helix-classes.js';
export type { RedisStoreOptions } from './context.js';
export type { RedisStores } from './open-stores.js';

/**
 * Both stores on one Redis, with one connection for commands and one for subscriptions. Connects in
 * the background; `ping` resolves once Redis answers. The process announces itself in Redis until
 * `close`.
 *
 * @example
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const stores = createRedisStores({ url: 'redis://localhost:6379', whenAway: 'wait' });
 * await stores.ping();
 * const runs = await stores.store.runs.list('session-1');
 * await stores.close();
 */
export function createRedisStores(options: ConnectionOptions): RedisStores {
  return openRedisStores(options);
}
