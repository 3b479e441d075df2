import { redis } from './lib/host.js';

/**
 * take due: takes sessions of a shard whose check is due, the oldest first. They become due again
 * after a while, in case the process that took them dies.
 *
 * Keys: the urgent and the routine list of the shard. Arguments: `takeDue`, now, the time at which
 * they are due again, the limit for each list.
 *
 * @returns the number of sessions from the urgent list, then the sessions
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
