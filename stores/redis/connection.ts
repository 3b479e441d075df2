import {
  createClient,
  OWN_RENEWAL,
  SILENCE,
  type RetryPolicy,
  type RedisConnection,
} from './clients.js';
import { startPulse } from './pulse.js';

export type { RedisConnection } from './clients.js';

export type RedisRole = 'api' | 'worker';

/**
 * A worker waits for Redis without limit and resends what was in flight (transitions recognise
 * repeated requests). The API fails fast, so that a person gets an answer.
 */
const POLICIES: Record<RedisRole, RetryPolicy> = {
  api: { waits: false, retries: 0, timeoutMs: 1_500, maxBackoffMs: 500 },
  worker: { waits: true, retries: null, timeoutMs: undefined, maxBackoffMs: 5_000 },
};

/** @throws HelixError `validation_error` if the URL is not the address of a Redis */
export function connectCommands(url: string, role: RedisRole): RedisConnection {
  return connect(url, POLICIES[role], 'commands');
}

/** Subscriptions are renewed after a broken connection; what was missed is read from the log. */
export function connectSubscriber(url: string, role: RedisRole): RedisConnection {
  const { maxBackoffMs } = POLICIES[role];
  return connect(url, { ...POLICIES.worker, maxBackoffMs }, 'subscriptions');
}

function connect(
  url: string,
  policy: RetryPolicy,
  use: 'commands' | 'subscriptions',
): RedisConnection {
  const client = createClient(url, policy, use);
  startPulse(client);
  return client;
}

/**
 * A connection for subscriptions to the same Redis as the caller's connection; it connects when
 * used.
 */
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
