import { redis } from './lib/host.js';

/**
 * postpone: puts a session off that was looked at, unless something has noted it as due since it was
 * taken. keys: the index. args: `postpone`, session, the time it was taken until, the new time.
 *
 * @returns 1 if it was put off
 */
export function postpone(keys: readonly string[], args: readonly string[]): number {
  const [index] = keys as [string];
  const [, sessionId, taken, until] = args as [string, string, string, string];
  if (redis.call('ZSCORE', index, sessionId) !== taken) return 0;
  redis.call('ZADD', index, until, sessionId);
  return 1;
}
