import { Cluster, Redis, type ClusterOptions, type RedisOptions } from 'ioredis';
import { parseRedisAddress, type RedisAddress } from './addresses.js';

/** A connection to a Redis of any kind; a `Redis` may find its server through Sentinels. */
export type RedisConnection = Redis | Cluster;

/**
 * Subscriptions are renewed by whoever made them: ioredis does it in promises that nobody looks at,
 * and a client that is ended in the middle of it would end the process.
 */
export const OWN_RENEWAL = { autoResubscribe: false } as const;

/**
 * A connection that leaves a command without any answer for this long is replaced, and so is one that
 * is not made in this time: its packets may vanish (a proxy that swallows them, a host that was lost).
 */
const SILENCE_MS = 2_500;
export const SILENCE = { socketTimeout: SILENCE_MS, connectTimeout: SILENCE_MS } as const;

/** How long and how often a client tries. */
export interface Patience {
  /** Commands wait in the process while there is no connection. */
  waits: boolean;
  /** Tries of one command after its connection broke; null: no limit. */
  retries: number | null;
  /** A command fails after this long. */
  timeoutMs: number | undefined;
  maxBackoffMs: number;
}

/** Between two tries of a command that a cluster redirects, and that it cannot serve right now. */
const REDIRECT_PAUSE_MS = 10;
const RETRY_PAUSE_MS = 100;
/** After a master was looked for, another one is not before this long. */
const LOOK_AGAIN_MS = 1_000;
/** Who owns which slot is asked this often, for subscribers that hear nothing of a change. */
const SLOTS_REFRESH_MS = 5_000;
/** For the patient: one number that a command never reaches. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** A client that connects when told to; its connection errors reach the callers of its commands. */
export function createClient(
  url: string,
  patience: Patience,
  use: 'commands' | 'subscriptions',
): RedisConnection {
  const address = parseRedisAddress(url);
  const client =
    address.kind === 'cluster'
      ? new Cluster(address.nodes, {
          ...clusterOptions(patience, address),
          shardedSubscribers: use === 'subscriptions',
        })
      : createRedis(address, patience, use);
  // An unobserved 'error' event would end the process.
  client.on('error', () => undefined);
  return client;
}

/** Ends a client for good. One that has ended would keep its process for two seconds. */
export function closeClient(client: RedisConnection): void {
  if (client.status === 'end') return;
  if ('nodes' in client) {
    // ioredis lets a cluster that is told to end while it asks for its slots live on when it has them.
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
  patience: Patience,
  use: 'commands' | 'subscriptions',
): Redis {
  const shared: RedisOptions = {
    ...connectionOptions(patience),
    lazyConnect: true,
    enableOfflineQueue: patience.waits,
    maxRetriesPerRequest: patience.retries,
    retryStrategy: backOff(patience),
    ...(use === 'subscriptions' && OWN_RENEWAL),
    reconnectOnError: createReconnection(),
  };
  if (address.kind === 'standalone') return new Redis(address.url, shared);
  const { sentinels, name, db, tls } = address;
  return new Redis({
    ...shared,
    ...accessOptions(address),
    ...{ sentinels, name, db },
    // Short, because a client that is told to end waits for it.
    sentinelRetryStrategy: () => RETRY_PAUSE_MS,
    // Not failoverDetector: it ends a client for good that is just reconnecting. Sentinels close
    // the connections of a master that they demote.
    ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  });
}

/**
 * A master that became a replica: look for the new one, and send the command there. Where there is
 * none yet, or never will be, the reply goes to whoever asked.
 */
function createReconnection(): (error: Error) => 2 | false {
  let lookedAt: number | undefined;
  return (error) => {
    if (!error.message.startsWith('READONLY')) return false;
    const now = performance.now();
    if (lookedAt !== undefined && now - lookedAt < LOOK_AGAIN_MS) return false;
    lookedAt = now;
    return 2;
  };
}

function clusterOptions(
  patience: Patience,
  address: Extract<RedisAddress, { kind: 'cluster' }>,
): ClusterOptions {
  return {
    lazyConnect: true,
    enableOfflineQueue: patience.waits,
    clusterRetryStrategy: backOff(patience),
    maxRedirections: patience.retries === null ? NO_LIMIT : patience.retries + 8,
    retryDelayOnMoved: REDIRECT_PAUSE_MS,
    retryDelayOnTryAgain: RETRY_PAUSE_MS,
    retryDelayOnFailover: RETRY_PAUSE_MS,
    retryDelayOnClusterDown: RETRY_PAUSE_MS,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    redisOptions: { ...connectionOptions(patience), ...accessOptions(address) },
  };
}

function connectionOptions({
  timeoutMs,
}: Patience): Pick<
  RedisOptions,
  'noDelay' | 'commandTimeout' | 'socketTimeout' | 'connectTimeout'
> {
  return {
    noDelay: true,
    ...SILENCE,
    ...(timeoutMs !== undefined && { commandTimeout: timeoutMs }),
  };
}

function accessOptions(address: {
  username?: string;
  password?: string;
  tls: boolean;
}): Pick<RedisOptions, 'username' | 'password' | 'tls'> {
  return {
    ...(address.username !== undefined && { username: address.username }),
    ...(address.password !== undefined && { password: address.password }),
    ...(address.tls && { tls: {} }),
  };
}

function backOff({ maxBackoffMs }: Patience): (times: number) => number {
  return (times) => Math.min(50 * 2 ** Math.min(times, 8), maxBackoffMs);
}
