import { redis } from './lib/host.js';

/**
 * note due: sets the time of a listed session's next check and moves it to the urgent list. It
 * needs no extra memory, so that the end of a run or an answer can be noted while Redis is full.
 *
 * Keys: the urgent and the routine list of the shard. Arguments: `noteDue`, session, time.
 *
 * @returns 1 if the session is listed, else 0
 */
export function noteDue(keys: readonly string[], args: readonly string[]): number {
  const [urgent, routine] = keys as [string, string];
  const [, sessionId, at] = args as [string, string, string];
  const isRoutine = redis.call('ZREM', routine, sessionId) === 1;
  if (!isRoutine && redis.call('ZSCORE', urgent, sessionId) === false) return 0;
  redis.call('ZADD', urgent, at, sessionId);
  return 1;
}
