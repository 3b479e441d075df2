import {
  createClient,
  OWN_RENEWAL,
  SILENCE,
  type RetryPolicy,
  type RedisConnection,
} from './clients.js';
import { startPulse } from './pulse.js';

export type { RedisConnection } from './clients.js';

/**
 * What a command does while Redis is away. `wait`: waits without limit and resends what was in flight
 * (transitions recognise repeated requests), as workers and programs do. `refuse`: fails with
 * `unavailable` at once, so that a person gets an answer, as web servers do.
 */
export type WhenAway = 'refuse' | 'wait';

/** A command of a connection that refuses fails after this long. */
const REFUSED_MS = 1_500;

const POLICIES: Record<WhenAway, RetryPolicy> = {
  refuse: { waits: false, retries: 0, timeoutMs: REFUSED_MS, maxBackoffMs: 500 },
  wait: { waits: true, retries: null, timeoutMs: undefined, maxBackoffMs: 5_000 },
};

/** @throws HelixError `validation_error` if the URL is not the address of a Redis */
export function connectCommands(url: string, whenAway: WhenAway): RedisConnection {
  return connect(url, POLICIES[whenAway], 'commands');
}

/** Subscriptions are renewed after a broken connection; what was missed is read from the log. */
export function connectSubscriber(url: string, whenAway: WhenAway): RedisConnection {
  const { maxBackoffMs } = POLICIES[whenAway];
  return connect(url, { ...POLICIES.wait, maxBackoffMs }, 'subscriptions');
}

/**
 * Resolves when a new connection is first ready, or was not within the time-out of a command: what is
 * sent before would fail although Redis runs. Afterwards commands are sent, or refused, at once.
 */
export function firstConnection(redis: RedisConnection): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      for (const event of ['ready', 'end']) redis.removeListener(event, done);
      resolve();
    };
    const timer = setTimeout(done, REFUSED_MS);
    for (const event of ['ready', 'end']) redis.on(event, done);
  });
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
