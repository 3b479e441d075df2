import { redis } from './lib/host.js';

/**
 * put due: says when a session that was looked at is looked at next, unless it was noted as due since
 * it was taken. keys: the list that it was taken from, the list that it is put on; the same key twice
 * where it stays. args: `putDue`, session, the time it was taken until, the next time or nothing: then
 * it is on no list any more.
 *
 * @returns 1 if it was put there
 */
export function putDue(keys: readonly string[], args: readonly string[]): number {
  const [from, onto] = keys as [string, string];
  const [, sessionId, taken, at] = args as [string, string, string, string];
  if (redis.call('ZSCORE', from, sessionId) !== taken) return 0;
  if (onto !== from || at === '') redis.call('ZREM', from, sessionId);
  if (at !== '') redis.call('ZADD', onto, at, sessionId);
  return 1;
}
