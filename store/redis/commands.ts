import type { RedisConnection } from './clients.js';
import { callRedis, isDiscarded } from './errors.js';
import type { Send } from './send.js';

/**
 * The commands that the store sends besides its scripts. Connections of ioredis and the in-process keyspace implement
 * them.
 */
export interface Commands {
  hgetall: (key: string) => Promise<Record<string, string>>;
  hget: (key: string, field: string) => Promise<string | null>;
  hset: (key: string, field: string, value: string) => Promise<number>;
  hsetnx: (key: string, field: string, value: string) => Promise<number>;
  hdel: (key: string, field: string) => Promise<number>;
  hincrby: (key: string, field: string, by: number) => Promise<number>;
  hmget: (key: string, ...fields: string[]) => Promise<(string | null)[]>;
  hkeys: (key: string) => Promise<string[]>;
  hvals: (key: string) => Promise<string[]>;
  llen: (key: string) => Promise<number>;
  lrange: (key: string, from: number, to: number) => Promise<string[]>;
  set: (
    key: string,
    value: string,
    px: 'PX',
    ms: number,
    ...nx: ['NX'] | []
  ) => Promise<'OK' | null>;
  rpush: (key: string, value: string) => Promise<number>;
  lrem: (key: string, count: 1, value: string) => Promise<number>;
  ltrim: (key: string, from: number, to: number) => Promise<unknown>;
  unlink: (key: string) => Promise<number>;
  pexpire: (key: string, ms: number) => Promise<number>;
  /** Time to live, ms; negative for a missing key, or one without expiry. */
  pttl: (key: string) => Promise<number>;
  zadd: (key: string, ...args: (string | number)[]) => Promise<unknown>;
  zrem: (key: string, member: string) => Promise<number>;
  zscore: (key: string, member: string) => Promise<string | null>;
  zcard: (key: string) => Promise<number>;
  zrangebyscore: (
    key: string,
    from: string | number,
    to: string | number,
    ...options: (string | number)[]
  ) => Promise<string[]>;
  xrange: (...range: StreamRange) => Promise<StoredEntries>;
  xrevrange: (...range: StreamRange) => Promise<StoredEntries>;
  /** Makes reads at one moment. Resolves with their replies, in order. */
  together: (...reads: Read[]) => Promise<unknown[]>;
}

export type Read = [name: 'hmget' | 'lrange' | 'xrange' | 'info', ...args: (string | number)[]];

/** Bounds in the order of the command: XRANGE takes the lower one first, XREVRANGE the upper one. */
type StreamRange = [key: string, from: string, to: string, count: 'COUNT', most: number];
type StoredEntries = [id: string, fields: string[]][];

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

/**
 * Creates the commands of a connection; `send` decides about temporary refusals. Failures become errors of the
 * contract.
 */
export function commandsOf(redis: RedisConnection, send: Send): Commands {
  // The overloads of ioredis are equivalent to Commands, but none of them accepts a list of options.
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
