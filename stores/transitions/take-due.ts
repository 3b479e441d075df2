import { redis } from './lib/host.js';

/**
 * take due: sessions of a shard that are due, oldest first; they are due again after a while, should
 * the process that took them die. keys: its urgent and routine list. args: `takeDue`, now, the time
 * at which they are due again, the most of each list.
 *
 * @returns how many come from the urgent list, then the sessions
 */
export function takeDue(keys: readonly string[], args: readonly string[]): (string | number)[] {
  const [urgent, routine] = keys as [string, string];
  const [, now, again, mostUrgent, mostRoutine] = args as [string, string, string, string, string];
  const taken: (string | number)[] = [0];
  takeFrom(urgent, mostUrgent);
  taken[0] = taken.length - 1;
  takeFrom(routine, mostRoutine);
  return taken;

  function takeFrom(list: string, most: string): void {
    for (const sessionId of redis.call('ZRANGEBYSCORE', list, '-inf', now, 'LIMIT', '0', most)) {
      redis.call('ZADD', list, again, sessionId);
      taken.push(sessionId);
    }
  }
}
