import { redis, toNumber } from './lib/host.js';

/**
 * pass audit: notes up to which entry a fleet has passed a chain on. It is only raised: another
 * process may have come further. One that is gone with its head stays gone.
 *
 * Keys: head. Arguments: `passAudit`, the field of the fleet, number of the entry.
 *
 * @returns 1 if it was raised
 */
export function passAudit(keys: readonly string[], args: readonly string[]): number {
  const [head] = keys as [string];
  const [, field, number] = args as [string, string, string];
  const before = redis.call('HGET', head, field);
  if (before === false || toNumber(before) >= toNumber(number)) return 0;
  redis.call('HSET', head, field, number);
  return 1;
}
