import { redis } from './lib/host.js';

/**
 * note snapshot: remembers that the newest snapshot of this turn was handed out while the turn was
 * active, or forgets it: '1' or '0'. Not a change of the run: a hint for the GET that follows.
 * keys: root. args: `noteSnapshot`, turn, now, whether it was active.
 *
 * @returns 0 if there is no such session
 */
export function noteSnapshot(keys: readonly string[], args: readonly string[]): number {
  const [root] = keys as [string];
  if (redis.call('EXISTS', root) === 0) return 0;
  const [, turn, now, isActive] = args as [string, string, string, string];
  if (isActive === '1') redis.call('HSET', root, 'snapTurn', turn, 'snapAt', now);
  else if (redis.call('HGET', root, 'snapTurn') === turn) redis.call('HDEL', root, 'snapTurn');
  return 1;
}
