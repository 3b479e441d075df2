import type { KeySpace } from './keys.js';

/** Session id used to check rights; nothing is stored under it. */
const SESSION = 'rights';

/** A command that the store sends, with arguments that allow its keys and channels to be checked. */
export type Right = readonly [command: string, ...args: string[]];

/** Returns the rights that the scripts need (docs/redis.md). Without one of them a script would fail halfway. */
export function rightsFor(keys: KeySpace): Right[] {
  const { root: key, channel } = keys.session(SESSION);
  return [
    ...OF_ONE_KEY.map(([command, ...args]): Right => [command, key, ...args]),
    ['SPUBLISH', channel, ''],
    ['SSUBSCRIBE', channel],
    ...ANYWHERE,
  ];
}

const OF_ONE_KEY: readonly Right[] = [
  ...['UNLINK', 'PERSIST', 'LLEN', 'HGETALL', 'XLEN'].map((command): Right => [command]),
  ['PEXPIRE', '1'],
  ['HGET', 'f'],
  ['HMGET', 'f'],
  ['HDEL', 'f'],
  ['HSET', 'f', '1'],
  ['HSETNX', 'f', '1'],
  ['HINCRBY', 'f', '1'],
  ['LRANGE', '0', '1'],
  ['LTRIM', '0', '1'],
  ['RPUSH', '1'],
  ['XADD', '1-0', 'f', '1'],
  ['XDEL', '1-0'],
  ['XTRIM', 'MINID', '1-0'],
  ['XRANGE', '-', '+'],
  ['XREVRANGE', '+', '-'],
  ['ZADD', '1', '1'],
  ['ZREM', '1'],
  ['ZSCORE', '1'],
  ['ZREMRANGEBYSCORE', '1', '2'],
];

const ANYWHERE: readonly Right[] = [['SUNSUBSCRIBE'], ['MULTI'], ['EXEC'], ['TIME'], ['PING']];
