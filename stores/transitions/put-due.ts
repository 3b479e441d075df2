import { redis } from './lib/host.js';

/**
 * put due: sets the time of the next check of a session that was taken from a list, unless it was
 * noted as due since.
 *
 * Keys: the list that it was taken from, the list that it goes to (the same key twice if it stays).
 * Arguments: `putDue`, session, the time until which it was taken, the time of the next check or ''
 * to take it off the lists.
 *
 * @returns 1 if it was moved, 0 if it was noted since
 */
export function putDue(keys: readonly string[], args: readonly string[]): number {
  const [from, onto] = keys as [string, string];
  const [, sessionId, taken, at] = args as [string, string, string, string];
  if (redis.call('ZSCORE', from, sessionId) !== taken) return 0;
  if (onto !== from || at === '') redis.call('ZREM', from, sessionId);
  if (at !== '') redis.call('ZADD', onto, at, sessionId);
  return 1;
}
