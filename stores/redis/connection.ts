import { HelixError } from '../../protocol/errors.js';
import { corrupt } from './stored-json.js';
import { createClient, OWN_RENEWAL, type Patience, type RedisConnection } from './clients.js';

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
  return createClient(url, PATIENCE[role], 'commands');
}

/** Subscriptions come back by themselves after a broken connection; what was missed is in the log. */
export function connectSubscriber(url: string, role: RedisRole): RedisConnection {
  const { maxBackoffMs } = PATIENCE[role];
  return createClient(url, { ...PATIENCE.worker, maxBackoffMs }, 'subscriptions');
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
          ...OWN_RENEWAL,
        });
  subscriber.on('error', () => undefined);
  return subscriber;
}

/** Replies by which a Redis says that it cannot serve right now. */
const AWAY =
  /^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOREPLICAS|MISCONF|OOM|BUSY) /;

/** Waits for Redis; its errors become those of the contract. */
export async function reach<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toContractError(error);
  }
}

/**
 * An unreachable Redis is the typed refusal that clients may retry, a key of another type is a
 * foreign value. Any other error that a script replies is a fault of ours and stays what it is.
 */
export function toContractError(error: unknown): Error {
  if (isReplyError(error) && error.message.startsWith('WRONGTYPE')) {
    return corrupt('type of a key', new Error(error.message));
  }
  if (isReplyError(error) && !AWAY.test(error.message)) {
    // Without the cause: ioredis hangs the whole command with its script on it, which is not for logs.
    return new Error(`Redis refused a command: ${error.message}`);
  }
  return new HelixError('unavailable', 'The conversation store cannot be reached right now.', {
    cause: error instanceof Error ? new Error(error.message) : error,
  });
}

function isReplyError(error: unknown): error is Error {
  return error instanceof Error && (error.name === 'ReplyError' || 'command' in error);
}

/** The replies of a transaction, or the first error among them. */
export function unpack(replies: [error: Error | null, result: unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, value]) => {
    if (error) throw toContractError(error);
    return value;
  });
}
