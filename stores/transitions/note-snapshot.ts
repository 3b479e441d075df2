import { redis } from './lib/host.js';

/**
 * note snapshot: remembers that the newest snapshot of this turn was taken while the turn was
 * active, or forgets it. It does not change the run; it is a hint for the GET that follows.
 *
 * Keys: root. Arguments: `noteSnapshot`, turn, now, '1' if the turn was active else '0'.
 *
 * @returns 0 if the session does not exist, else 1
 */
export function noteSnapshot(keys: readonly string[], args: readonly string[]): number {
  const [root] = keys as [string];
  if (redis.call('EXISTS', root) === 0) return 0;
  const [, turn, now, isActive] = args as [string, string, string, string];
  if (isActive === '1') redis.call('HSET', root, 'snapTurn', turn, 'snapAt', now);
  else if (redis.call('HGET', root, 'snapTurn') === turn) redis.call('HDEL', root, 'snapTurn');
  return 1;
}
