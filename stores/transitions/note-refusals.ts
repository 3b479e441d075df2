import { redis, toNumber } from './lib/host.js';

/**
 * note refusals: names items of a batch that were refused. An attempt may outlive its batch and the
 * erasure of its person: a record that is gone is not made again.
 *
 * Keys: the batch. Arguments: `noteRefusals`, how many are named at most, how long the record is kept
 * from now on in ms, then field and code of each.
 *
 * @returns 1 if the record exists
 */
export function noteRefusals(keys: readonly string[], args: readonly string[]): number {
  const [batch] = keys as [string];
  const [, most, keptMs] = args as [string, string, string];
  if (redis.call('EXISTS', batch) === 0) return 0;
  let left = toNumber(most);
  for (const field of redis.call('HKEYS', batch)) if (field.startsWith('problem:')) left -= 1;
  for (let at = 3; at < args.length; at += 2) {
    const [field, code] = [args[at] as string, args[at + 1] as string];
    if (redis.call('HEXISTS', batch, field) === 0) {
      if (left <= 0) continue;
      left -= 1;
    }
    redis.call('HSET', batch, field, code);
  }
  redis.call('PEXPIRE', batch, keptMs);
  return 1;
}
