import { redis } from './lib/host.js';

/**
 * note due: says when a session that is in the index is looked at next. It takes no memory, so that
 * what ends or answers a run can be noted while Redis is full. keys: the index. args: `noteDue`, session,
 * time.
 *
 * @returns 1 if it is there
 */
export function noteDue(keys: readonly string[], args: readonly string[]): number {
  const [index] = keys as [string];
  const [, sessionId, at] = args as [string, string, string];
  if (redis.call('ZSCORE', index, sessionId) === false) return 0;
  redis.call('ZADD', index, at, sessionId);
  return 1;
}
