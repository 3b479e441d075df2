import { readFileSync } from 'node:fs';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { retryDelay } from '../../protocol/time.js';
import { HelixError } from '../../protocol/errors.js';
import { noteConnection } from './errors.js';
import { followFailovers } from './failovers.js';
import { startPulse } from './pulse.js';
import { parseRedisAddress, type Access, type RedisAddress, type TlsFiles } from './addresses.js';

/** A connection to a Redis of any kind. A `Redis` may find its server through Sentinels. */
export type RedisConnection = Redis | Cluster;

/**
 * Our own code renews subscriptions: ioredis renews them in unobserved promises, which end the process if the client is
 * closed at that moment.
 */
const OWN_RENEWAL = { autoResubscribe: false } as const;

/**
 * A connection that leaves a command unanswered for this long is replaced, as is one that is not established within
 * this time: its packets may vanish, for instance in a proxy or after the loss of a host.
 */
const SILENCE_MS = 2_500;
const SILENCE = { socketTimeout: SILENCE_MS, connectTimeout: SILENCE_MS } as const;

interface RetryPolicy {
  /** Commands are queued in the process while there is no connection. */
  waits: boolean;
  /** Retries of a command after its connection broke; null: no limit. */
  retries: number | null;
  timeoutMs: number | undefined;
  maxBackoffMs: number;
}

/** Delays before the retry of a command that a cluster redirects, or cannot serve right now. */
const REDIRECT_PAUSE_MS = 10;
const RETRY_PAUSE_MS = 100;
const LOOK_AGAIN_MS = 1_000;
/** Refresh interval of the map of slots, for subscribers, which are not informed of changes. */
const SLOTS_REFRESH_MS = 5_000;
/** A number of redirections that no command reaches, for policies without a limit. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Behaviour of a command while Redis is unreachable. `wait`: waits without limit and resends commands in flight
 * (changes recognise repeated requests), as workers and programs do. `refuse`: fails with `unavailable` at once, so
 * that a person gets an answer, as web servers do.
 */
export type WhenAway = 'refuse' | 'wait';

const REFUSED_MS = 1_500;

const POLICIES: Record<WhenAway, RetryPolicy> = {
  refuse: { waits: false, retries: 0, timeoutMs: REFUSED_MS, maxBackoffMs: 500 },
  wait: { waits: true, retries: null, timeoutMs: undefined, maxBackoffMs: 5_000 },
};

/** @throws HelixError `validation_error` if the URL is not the address of a Redis */
export function connectCommands(url: string, whenAway: WhenAway): RedisConnection {
  return createClient(url, POLICIES[whenAway], 'commands');
}

/** Connects for subscriptions, which are renewed after a broken connection; missed entries are read from the log. */
export function connectSubscriber(url: string, whenAway: WhenAway): RedisConnection {
  const { maxBackoffMs } = POLICIES[whenAway];
  return createClient(url, { ...POLICIES.wait, maxBackoffMs }, 'subscriptions');
}

/**
 * Resolves when a new connection is first ready, or after a command's time limit. Commands sent earlier would fail
 * although Redis runs; later ones are sent, or refused, at once.
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
  keepUp(subscriber);
  return subscriber;
}

/** Creates a client that connects on request. Connection errors are reported to the callers of its commands. */
function createClient(url: string, policy: RetryPolicy, use: 'commands' | 'subscriptions') {
  const address = parseRedisAddress(url);
  const client =
    address.kind === 'cluster'
      ? createCluster(address, policy, use)
      : createRedis(address, policy, use);
  keepUp(client);
  return client;
}

function keepUp(client: RedisConnection): void {
  // An unobserved 'error' event would end the process.
  client.on('error', noteConnection);
  client.on('ready', () => {
    noteConnection();
  });
  startPulse(client);
  if (!('nodes' in client)) followFailovers(client);
}

/** Closes a client permanently. Closing one that has already ended would keep the process alive for two seconds. */
export function closeClient(client: RedisConnection): void {
  if (client.status === 'end') return;
  if ('nodes' in client) {
    // A cluster that is closed while it fetches its slots reconnects when it has them (ioredis).
    for (const sign of ['connect', 'ready', 'reconnecting']) {
      client.on(sign, () => {
        client.disconnect();
      });
    }
  }
  client.disconnect();
}

function createRedis(
  address: Exclude<RedisAddress, { kind: 'cluster' }>,
  policy: RetryPolicy,
  use: 'commands' | 'subscriptions',
): Redis {
  const shared: RedisOptions = {
    ...connectionOptions(policy),
    lazyConnect: true,
    enableOfflineQueue: policy.waits,
    maxRetriesPerRequest: policy.retries,
    retryStrategy: backOff(policy),
    ...(use === 'subscriptions' && OWN_RENEWAL),
    reconnectOnError: createReconnection(),
  };
  if (address.kind === 'standalone') {
    const tls = address.files && { tls: readTlsFiles(address.files) };
    return new Redis(address.url, { ...shared, ...tls });
  }
  const { sentinels, name, db, tls, files, sentinelUsername, sentinelPassword } = address;
  return new Redis({
    ...shared,
    ...accessOptions(address),
    sentinels,
    sentinelUsername,
    sentinelPassword,
    name,
    db,
    // Short, because closing a client waits for it.
    sentinelRetryStrategy: () => RETRY_PAUSE_MS,
    // Not failoverDetector, for `followFailovers`: it permanently ends a client that is just reconnecting.
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: readTlsFiles(files) }),
  });
}

/** After READONLY, ioredis looks for the new master and resends the command. Without one, the caller gets the error. */
function createReconnection(): (error: Error) => 2 | false {
  let lookedAt: number | undefined;
  return (error) => {
    if (!/\bREADONLY /.test(error.message)) return false;
    const now = performance.now();
    if (lookedAt !== undefined && now - lookedAt < LOOK_AGAIN_MS) return false;
    lookedAt = now;
    return 2;
  };
}

function createCluster(
  address: Extract<RedisAddress, { kind: 'cluster' }>,
  policy: RetryPolicy,
  use: 'commands' | 'subscriptions',
): Cluster {
  return new Cluster(address.nodes, {
    shardedSubscribers: use === 'subscriptions',
    lazyConnect: true,
    enableOfflineQueue: policy.waits,
    clusterRetryStrategy: backOff(policy),
    maxRedirections: policy.retries === null ? NO_LIMIT : policy.retries + 8,
    retryDelayOnMoved: REDIRECT_PAUSE_MS,
    retryDelayOnTryAgain: RETRY_PAUSE_MS,
    retryDelayOnFailover: RETRY_PAUSE_MS,
    retryDelayOnClusterDown: RETRY_PAUSE_MS,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    redisOptions: { ...connectionOptions(policy), ...accessOptions(address) },
  });
}

function connectionOptions({ timeoutMs }: RetryPolicy) {
  return {
    noDelay: true,
    ...SILENCE,
    ...(timeoutMs !== undefined && { commandTimeout: timeoutMs }),
  };
}

function accessOptions({ username, password, tls, files }: Access) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: readTlsFiles(files) }),
  };
}

/** @throws HelixError `validation_error` that names the file which cannot be read */
function readTlsFiles(files: TlsFiles = {}): Record<string, Buffer> {
  return Object.fromEntries(
    Object.entries(files).map(([name, file]) => {
      try {
        return [name, readFileSync(file)];
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new HelixError('validation_error', `The file ${name} of REDIS_URL: ${why}.`);
      }
    }),
  );
}

function backOff({ maxBackoffMs }: RetryPolicy): (times: number) => number {
  return (times) => retryDelay({ attempt: times, firstMs: 100, mostMs: maxBackoffMs });
}
