import type { KeySpace } from './keys.js';

/** Session id used to check rights; nothing is stored under it. */
const SESSION = 'rights';

/**
 * A command that the store sends, with arguments that allow its keys and channels to be checked.
 */
export type Right = readonly [command: string, ...args: string[]];

/**
 * The rights that a Redis user needs for the commands inside the library, see docs/redis.md.
 * Without one of them a transition would fail halfway.
 */
export function rightsFor(keys: KeySpace): Right[] {
  const key = keys.session(SESSION).root;
  const channel = keys.channel(SESSION);
  return [
    ...ofOneKey.map(([command, ...args]): Right => [command, key, ...args]),
    ['RENAME', key, key],
    ['SPUBLISH', channel, ''],
    ['SSUBSCRIBE', channel],
    ...anywhere,
  ];
}

const ofOneKey: Right[] = [
  ...(['UNLINK', 'EXISTS', 'PERSIST', 'PTTL', 'LLEN', 'LPOP'] as const).map(one),
  ...(['HGETALL', 'HKEYS', 'HVALS', 'SCARD', 'XLEN'] as const).map(one),
  ['EXPIRE', '1'],
  ['PEXPIRE', '1'],
  ['SET', '1'],
  ['HGET', 'f'],
  ['HMGET', 'f'],
  ['HEXISTS', 'f'],
  ['HDEL', 'f'],
  ['HSET', 'f', '1'],
  ['HSETNX', 'f', '1'],
  ['HINCRBY', 'f', '1'],
  ['HSTRLEN', 'f'],
  ['LINDEX', '0'],
  ['LRANGE', '0', '1'],
  ['LTRIM', '0', '1'],
  ['LSET', '0', '1'],
  ['LREM', '0', '1'],
  ['LINSERT', 'BEFORE', '1', '1'],
  ['RPUSH', '1'],
  ['SADD', '1'],
  ['SREM', '1'],
  ['SISMEMBER', '1'],
  ['XADD', '1-0', 'f', '1'],
  ['XDEL', '1-0'],
  ['XTRIM', 'MINID', '1-0'],
  ['XRANGE', '-', '+'],
  ['XREVRANGE', '+', '-'],
  ['ZADD', '1', '1'],
  ['ZREM', '1'],
  ['ZSCORE', '1'],
  ['ZCARD'],
  ['ZRANGEBYSCORE', '1', '2'],
  ['ZREMRANGEBYSCORE', '1', '2'],
];

const anywhere: Right[] = [['SUNSUBSCRIBE'], ['MULTI'], ['EXEC'], ['TIME'], ['PING']];

function one(command: string): Right {
  return [command];
}
