import { createStreamManager } from '../log/create-stream-manager.js';
import type { StreamManager } from '../log/stream-manager.js';
import type { Store } from '../contract/store.js';
import { closeClient } from './clients.js';
import { connectCommands, connectSubscriber, type RedisRole } from './connection.js';
import { callRedis } from './errors.js';
import { createContext, type RedisStoreOptions } from './create-context.js';
import type { Library } from './library.js';
import { createRedisSessionStore } from './session-store.js';
import { readRedisSettings, type RedisSettings } from './settings.js';
import { createRedisStreamLog } from './stream-log.js';

export interface RedisStores {
  store: Store;
  streamManager: StreamManager;
  /** Resolves once Redis answers. @throws HelixError `unavailable` */
  ping: () => Promise<void>;
  /** Version of Redis, and the settings that durability depends on. */
  settings: () => Promise<RedisSettings>;
  /** How long Redis has not answered while a command waits, ms; 0 if nothing waits. */
  unansweredMs: () => number;
  close: () => Promise<void>;
}

export interface ConnectionOptions extends RedisStoreOptions {
  url: string;
  role: RedisRole;
}

/** Opens both stores on one Redis. With `library` or `layout` it behaves like another release. */
export function openRedisStores(
  options: ConnectionOptions,
  release: { library?: Library; layout?: number } = {},
): RedisStores {
  const commands = connectCommands(options.url, options.role);
  const subscriber = connectSubscriber(options.url, options.role);
  const context = createContext(commands, options, {
    ...release,
    retriesRefusals: options.role === 'worker',
  });
  context.processes.start();
  for (const redis of [commands, subscriber]) redis.connect().catch(() => undefined);
  return {
    store: createRedisSessionStore(context),
    streamManager: createStreamManager(createRedisStreamLog(context, subscriber)),
    ping: async () => {
      await callRedis(commands.ping());
    },
    settings: () => callRedis(readRedisSettings(commands)),
    unansweredMs: context.unanswered.silentMs,
    close: async () => {
      await context.processes.close();
      for (const client of [commands, subscriber]) closeClient(client);
    },
  };
}
