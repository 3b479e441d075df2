import { redis } from './lib/host.js';

/**
 * note snapshot: remembers that a snapshot of this turn was handed out while the turn was active. Not
 * a change of the run: a hint for the GET that follows. keys: root. args: `noteSnapshot`, turn, now.
 *
 * @returns 0 if there is no such session
 */
export function noteSnapshot(keys: readonly string[], args: readonly string[]): number {
  const [root] = keys as [string];
  if (redis.call('EXISTS', root) === 0) return 0;
  redis.call('HSET', root, 'snapTurn', args[1] as string, 'snapAt', args[2] as string);
  return 1;
}
