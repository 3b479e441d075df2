import { formatInt, redis, toNumber } from './lib/host.js';

/**
 * trim audit: drops the oldest entries of a chain, up to and including one of them, whose hash is
 * kept, so that the rest still verifies.
 *
 * Keys: head, chain. Arguments: `trimAudit`, number and hash of the last entry to drop.
 *
 * @returns 1 if entries were dropped
 */
export function trimAudit(keys: readonly string[], args: readonly string[]): number {
  const [head, chain] = keys as [string, string];
  const [, number, hash] = args as [string, string, string];
  const before = redis.call('HGET', head, 'from');
  if (before !== false && toNumber(before) >= toNumber(number)) return 0;
  redis.call('HSET', head, 'from', number, 'fromHash', hash);
  redis.call('XTRIM', chain, 'MINID', `${formatInt(toNumber(number) + 1)}-0`);
  return 1;
}
