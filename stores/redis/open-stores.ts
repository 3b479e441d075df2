import { createStreamManager } from '../log/create-stream-manager.js';
import type { StreamManager } from '../log/stream-manager.js';
import type { Store } from '../contract/store.js';
import { closeClient } from './clients.js';
import { connectCommands, connectSubscriber, type RedisRole } from './connection.js';
import { reach } from './errors.js';
import { createContext, type RedisStoreOptions } from './create-context.js';
import type { Library } from './library.js';
import { createRedisSessionStore } from './session-store.js';
import { readRedisSettings, type RedisSettings } from './settings.js';
import { createRedisStreamLog } from './stream-log.js';

export interface RedisStores {
  store: Store;
  streamManager: StreamManager;
  /** Resolves when Redis answers. @throws HelixError `unavailable` */
  ping: () => Promise<void>;
  /** Version and the settings that durability rests on. */
  settings: () => Promise<RedisSettings>;
  /** How long Redis has answered nothing while a command waits, ms; 0: all are answered. */
  unansweredMs: () => number;
  close: () => Promise<void>;
}

export interface ConnectionOptions extends RedisStoreOptions {
  url: string;
  role: RedisRole;
}

/** Both stores on one Redis; as of another release, if its library or layout is given. */
export function openRedisStores(
  options: ConnectionOptions,
  release: { library?: Library; layout?: number } = {},
): RedisStores {
  const commands = connectCommands(options.url, options.role);
  const subscriber = connectSubscriber(options.url, options.role);
  const context = createContext(commands, options, {
    ...release,
    isPatient: options.role === 'worker',
  });
  context.processes.start();
  for (const redis of [commands, subscriber]) redis.connect().catch(() => undefined);
  return {
    store: createRedisSessionStore(context),
    streamManager: createStreamManager(createRedisStreamLog(context, subscriber)),
    ping: async () => {
      await reach(commands.ping());
    },
    settings: () => reach(readRedisSettings(commands)),
    unansweredMs: context.unanswered.silentMs,
    close: async () => {
      await context.processes.close();
      for (const client of [commands, subscriber]) closeClient(client);
    },
  };
}
