import type { SessionStore } from '../session-store.js';
import type { RedisContext } from './context.js';
import { reach } from './connection.js';

type Index = Pick<
  SessionStore,
  'noteActiveSnapshot' | 'dueSessions' | 'forgetDue' | 'noteDue' | 'leaseSweep'
>;

/** What looks after sessions without being part of their state. */
export function createSessionIndex({ redis, keys, scripts }: RedisContext): Index {
  return {
    noteActiveSnapshot: async (sessionId, turn) => {
      await scripts.run('note-snapshot', [keys.session(sessionId).root], [turn, Date.now()]);
    },
    noteDue: async (sessionId, inMs) => {
      await reach(redis.zadd(keys.activeIndex, Date.now() + inMs, sessionId));
    },
    dueSessions: async (limit, forMs) => {
      const now = Date.now();
      const due = await reach(
        redis.zrangebyscore(keys.activeIndex, '-inf', now, 'LIMIT', 0, limit),
      );
      if (due.length > 0) {
        const next = due.flatMap((sessionId) => [now + forMs, sessionId]);
        await reach(redis.zadd(keys.activeIndex, 'XX', ...next));
      }
      return due;
    },
    forgetDue: async (sessionId) => {
      await reach(redis.zrem(keys.activeIndex, sessionId));
    },
    leaseSweep: async (holder, forMs) =>
      (await reach(redis.set(keys.sweepLease, holder, 'PX', forMs, 'NX'))) === 'OK',
  };
}
