import type { Redis } from 'ioredis';
import type { RedisConnection } from './clients.js';
import { callRedis, isDiscarded } from './errors.js';
import type { Send } from './send.js';

/** The commands that the store sends besides its scripts, to connections of ioredis or the in-process keyspace. */
export type Commands = Pick<Redis, (typeof SINGLE)[number]> & {
  /** Makes reads at one moment. Resolves with their replies, in order. */
  together: (...reads: Read[]) => Promise<unknown[]>;
};

export type Read = [name: 'hmget' | 'lrange' | 'xrange' | 'info', ...args: (string | number)[]];

export const SINGLE = [
  'hgetall',
  'hget',
  'hset',
  'hsetnx',
  'hdel',
  'hincrby',
  'hmget',
  'hkeys',
  'hvals',
  'llen',
  'lrange',
  'rpush',
  'lrem',
  'ltrim',
  'xrange',
  'xrevrange',
  'set',
  'unlink',
  'pexpire',
  'pttl',
  'zadd',
  'zrem',
  'zscore',
  'zcard',
  'zrangebyscore',
] as const;

/** Creates the commands of a connection; `send` decides about refusals. Failures become errors of the contract. */
export function commandsOf(redis: RedisConnection, send: Send): Commands {
  const all = redis as unknown as Record<
    (typeof SINGLE)[number],
    (...args: unknown[]) => Promise<unknown>
  >;
  const single = SINGLE.map((name) => [
    name,
    (...args: unknown[]) => callRedis(send(() => all[name].apply(redis, args))),
  ]);
  return {
    ...(Object.fromEntries(single) as Omit<Commands, 'together'>),
    together: (...reads) => callRedis(send(() => readTogether(redis, reads))),
  };
}

/** A full Redis refuses transactions. The reads are then pipelined; little can be written between them. */
async function readTogether(redis: RedisConnection, reads: Read[]): Promise<unknown[]> {
  try {
    return unpack(await redis.multi(reads).exec());
  } catch (error) {
    if (!isDiscarded(error)) throw error;
    return unpack(await redis.pipeline(reads).exec());
  }
}

function unpack(replies: [error: Error | null, result: unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, value]) => {
    if (error) throw error;
    return value;
  });
}
