import { formatInt, redis, toNumber } from './lib/host.js';

/** Sealed names that one request drops; the others wait for the next. */
const MOST_NAMES = '1000';

/**
 * trim audit: drops the oldest entries of a chain, up to and including one of them, whose hash is
 * kept, so that the rest still verifies, and the sealed names of which the rest has no entry.
 *
 * Keys: head, chain, acted, sealed. Arguments: `trimAudit`, number and hash of the last entry to drop, 0 for
 * none, and the time before which entries are dropped.
 *
 * @returns 1 if entries were dropped
 */
export function trimAudit(keys: readonly string[], args: readonly string[]): number {
  const [head, chain, acted, sealed] = keys as [string, string, string, string];
  const [, number, hash, before] = args as [string, string, string, string];
  const names = redis.call('ZRANGEBYSCORE', acted, '-inf', before, 'LIMIT', '0', MOST_NAMES);
  if (names.length > 0) {
    redis.call('HDEL', sealed, ...names);
    redis.call('ZREM', acted, ...names);
  }
  const from = redis.call('HGET', head, 'from');
  if (number === '0' || (from !== false && toNumber(from) >= toNumber(number))) return 0;
  redis.call('HSET', head, 'from', number, 'fromHash', hash);
  redis.call('XTRIM', chain, 'MINID', `${formatInt(toNumber(number) + 1)}-0`);
  return 1;
}
