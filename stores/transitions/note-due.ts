import { redis } from './lib/host.js';

/**
 * note due: says when a session that is listed is looked at next, among the urgent ones. It takes no
 * memory, so that what ends or answers a run can be noted while Redis is full. keys: the urgent and the
 * routine list of its shard. args: `noteDue`, session, time.
 *
 * @returns 1 if it is there
 */
export function noteDue(keys: readonly string[], args: readonly string[]): number {
  const [urgent, routine] = keys as [string, string];
  const [, sessionId, at] = args as [string, string, string];
  const isRoutine = redis.call('ZREM', routine, sessionId) === 1;
  if (!isRoutine && redis.call('ZSCORE', urgent, sessionId) === false) return 0;
  redis.call('ZADD', urgent, at, sessionId);
  return 1;
}
