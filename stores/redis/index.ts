import type { Store } from '../contract/store.js';
import type { StreamManager } from '../log/stream-manager.js';
import { createStreamManager } from '../log/create-stream-manager.js';
import { closeClient } from './clients.js';
import { connectCommands, connectSubscriber, reach, type RedisRole } from './connection.js';
import { createContext, type RedisStoreOptions } from './create-context.js';
import { readRedisSettings, type RedisSettings } from './settings.js';
import { createRedisSessionStore } from './session-store.js';
import { createRedisStreamLog } from './stream-log.js';

export { RedisStateStore, RedisStreamManager } from './helix-classes.js';
export type { RedisStoreOptions } from './create-context.js';

export interface RedisStores {
  store: Store;
  streamManager: StreamManager;
  /** Resolves when Redis answers. @throws HelixError `unavailable` */
  ping: () => Promise<void>;
  /** Version and the settings that durability rests on. */
  settings: () => Promise<RedisSettings>;
  /** Adds one to a field of a hash; for tools that count in Redis. */
  countIn: (hash: string, field: string) => Promise<number>;
  close: () => Promise<void>;
}

/**
 * Both stores on one Redis: a connection for commands, one for subscriptions. Connects in the
 * background; `ping` tells when Redis answers.
 */
export function createRedisStores(
  options: { url: string; role: RedisRole } & RedisStoreOptions,
): RedisStores {
  const commands = connectCommands(options.url, options.role);
  const subscriber = connectSubscriber(options.url, options.role);
  for (const redis of [commands, subscriber]) redis.connect().catch(() => undefined);
  const context = createContext(commands, options);
  return {
    store: createRedisSessionStore(context),
    streamManager: createStreamManager(createRedisStreamLog(context, subscriber)),
    ping: async () => {
      await reach(commands.ping());
    },
    settings: () => reach(readRedisSettings(commands)),
    countIn: (hash, field) => reach(commands.hincrby(hash, field, 1)),
    close: async () => {
      for (const client of [commands, subscriber]) closeClient(client);
      await Promise.resolve();
    },
  };
}
