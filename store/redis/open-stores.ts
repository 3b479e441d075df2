import { extname } from 'node:path';
import { createStreamManager } from '../log/create-stream-manager.js';
import type { StreamManager } from '../log/stream-manager.js';
import type { Store } from '../contract/store.js';
import {
  closeClient,
  connectCommands,
  connectSubscriber,
  firstConnection,
  type WhenAway,
} from './clients.js';
import { callRedis } from './errors.js';
import { createContext, type RedisStoreOptions } from './context.js';
import { createRedisSessionStore } from './session-store.js';
import { readRedisSettings, type RedisSettings } from './inspect-redis.js';
import { createRedisStreamLog } from './stream-log.js';

const LEASES = new URL(`./open-leases${extname(import.meta.url)}`, import.meta.url).href;

export interface RedisStores {
  store: Store;
  streamManager: StreamManager;
  /** Resolves once Redis answers; before the first connection it waits. @throws HelixError `unavailable` */
  ping: () => Promise<void>;
  /** Version of Redis, and the settings that durability depends on. */
  settings: () => Promise<RedisSettings>;
  /** Time without an answer from Redis while a command waits, ms; 0 if none waits. */
  unansweredMs: () => number;
  close: () => Promise<void>;
}

export interface ConnectionOptions extends RedisStoreOptions {
  url: string;
  /**
   * Behaviour of commands while Redis is unreachable. Default: `wait`; for web servers: `refuse`. Either way, a command
   * before the first connection waits for it.
   */
  whenAway?: WhenAway;
}

/**
 * Creates both stores on one Redis, with connections for commands, for large reads and for
 * subscriptions. They connect in the background; `ping` resolves once Redis answers.
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
  const { url, whenAway = 'wait' } = options;
  const commands = connectCommands(url, whenAway);
  const reads = connectCommands(url, whenAway);
  const subscriber = connectSubscriber(url, whenAway);
  const connected =
    whenAway === 'wait'
      ? undefined
      : Promise.all([commands, reads].map(firstConnection)).then(() => undefined);
  const context = createContext(commands, options, {
    retriesRefusals: whenAway === 'wait',
    reads,
    connected,
  });
  const ask = async <T>(command: () => Promise<T>): Promise<T> => {
    await connected;
    return callRedis(command());
  };
  for (const redis of [commands, reads, subscriber]) redis.connect().catch(() => undefined);
  return {
    store: createRedisSessionStore({
      ...context,
      leaseThread: { module: LEASES, data: { url, prefix: options.prefix } },
    }),
    streamManager: createStreamManager(createRedisStreamLog(context, subscriber)),
    ping: async () => {
      await ask(() => commands.ping());
    },
    settings: () => ask(() => readRedisSettings(commands, context)),
    unansweredMs: context.unanswered.silentMs,
    close: async () => {
      for (const client of [commands, reads, subscriber]) closeClient(client);
    },
  };
}
