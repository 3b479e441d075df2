import {
  createClient,
  OWN_RENEWAL,
  SILENCE,
  type Patience,
  type RedisConnection,
} from './clients.js';
import { startPulse } from './pulse.js';

export type { RedisConnection } from './clients.js';

export type RedisRole = 'api' | 'worker';

/**
 * A worker waits for Redis as long as it takes and sends again what was in flight (the scripts
 * know repeats); the API refuses at once, so that a person gets an answer.
 */
const PATIENCE: Record<RedisRole, Patience> = {
  api: { waits: false, retries: 0, timeoutMs: 1_500, maxBackoffMs: 500 },
  worker: { waits: true, retries: null, timeoutMs: undefined, maxBackoffMs: 5_000 },
};

/** @throws HelixError `validation_error` if the URL is no address of a Redis */
export function connectCommands(url: string, role: RedisRole): RedisConnection {
  return connect(url, PATIENCE[role], 'commands');
}

/** Subscriptions come back by themselves after a broken connection; what was missed is in the log. */
export function connectSubscriber(url: string, role: RedisRole): RedisConnection {
  const { maxBackoffMs } = PATIENCE[role];
  return connect(url, { ...PATIENCE.worker, maxBackoffMs }, 'subscriptions');
}

function connect(
  url: string,
  patience: Patience,
  use: 'commands' | 'subscriptions',
): RedisConnection {
  const client = createClient(url, patience, use);
  startPulse(client);
  return client;
}

/** A connection for subscriptions to the same Redis as one of the caller's; connects when used. */
export function duplicateForSubscriptions(redis: RedisConnection): RedisConnection {
  const subscriber =
    'nodes' in redis
      ? redis.duplicate([], {
          shardedSubscribers: true,
          lazyConnect: true,
          enableOfflineQueue: true,
        })
      : redis.duplicate({
          lazyConnect: true,
          enableOfflineQueue: true,
          maxRetriesPerRequest: null,
          commandTimeout: undefined,
          ...SILENCE,
          ...OWN_RENEWAL,
        });
  subscriber.on('error', () => undefined);
  startPulse(subscriber);
  return subscriber;
}
