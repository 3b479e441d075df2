import { Redis, type RedisOptions } from 'ioredis';
import { HelixError } from '../../protocol/errors.js';

/** A request of the API waits at most this long for Redis. */
const API_COMMAND_TIMEOUT_MS = 1_500;
const MAX_BACKOFF_MS = 5_000;

export type RedisRole = 'api' | 'worker';

/**
 * A worker waits for Redis as long as it takes and sends again what was in flight (the scripts
 * know repeats); the API refuses at once, so that a person gets an answer.
 */
function optionsFor(role: RedisRole): RedisOptions {
  const shared: RedisOptions = {
    lazyConnect: true,
    noDelay: true,
    retryStrategy: (times) =>
      Math.min(50 * 2 ** Math.min(times, 8), role === 'api' ? 500 : MAX_BACKOFF_MS),
  };
  return role === 'api'
    ? {
        ...shared,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        commandTimeout: API_COMMAND_TIMEOUT_MS,
      }
    : { ...shared, maxRetriesPerRequest: null };
}

export function connectCommands(url: string, role: RedisRole): Redis {
  const redis = new Redis(url, optionsFor(role));
  redis.on('error', ignoreHere);
  return redis;
}

/** Subscriptions come back by themselves after a broken connection; what was missed is in the log. */
export function connectSubscriber(url: string, role: RedisRole): Redis {
  const redis = new Redis(url, {
    ...optionsFor(role),
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    commandTimeout: undefined,
  });
  redis.on('error', ignoreHere);
  return redis;
}

// Connection errors reach the caller of each command; an unobserved 'error' event would end the process.
function ignoreHere(): void {
  return;
}

/** Replies by which a Redis says that it cannot serve right now. */
const AWAY = /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|MISCONF|OOM|BUSY) /;

/**
 * Turns an unreachable Redis into the typed refusal that clients may retry. An error that a script
 * replies is a fault of ours and stays what it is.
 */
export async function reach<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isReplyError(error) && !AWAY.test(error.message)) {
      // Without the cause: ioredis hangs the whole command with its script on it, which is not for logs.
      // eslint-disable-next-line preserve-caught-error
      throw new Error(`Redis refused a command: ${error.message}`);
    }
    throw new HelixError('unavailable', 'The conversation store cannot be reached right now.', {
      cause: error instanceof Error ? new Error(error.message) : error,
    });
  }
}

function isReplyError(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'ReplyError' || 'command' in error);
}
