import type { Due } from '../contract/due.js';
import type { Sessions } from '../contract/sessions.js';
import type { RedisContext } from './context.js';
import { isOutOfMemory, reach } from './errors.js';

type Index = Due & Pick<Sessions, 'noteActiveSnapshot' | 'noteRestingSnapshot'>;

/** What looks after sessions without being part of their state. */
export function createSessionIndex({ redis, keys, transitions, now }: RedisContext): Index {
  return {
    noteActiveSnapshot: async (sessionId, turn) => {
      await transitions.noteSnapshot(sessionId, { turn, isActive: true }, now());
    },
    noteRestingSnapshot: async (sessionId, turn) => {
      await transitions.noteSnapshot(sessionId, { turn, isActive: false }, now());
    },
    note: async (sessionId, inMs) => {
      const at = now() + inMs;
      const noted = redis.zadd(keys.activeIndex, at, sessionId).catch(async (error: unknown) => {
        // A full Redis lets runs be answered and ended, which are in the index.
        if (!isOutOfMemory(error)) throw error;
        if (!(await transitions.noteDue(keys.activeIndex, sessionId, at))) throw error;
      });
      await reach(noted);
    },
    take: async (limit, forMs) => {
      const at = now();
      const takenUntil = at + forMs;
      const due = await reach(redis.zrangebyscore(keys.activeIndex, '-inf', at, 'LIMIT', 0, limit));
      if (due.length > 0) {
        const next = due.flatMap((sessionId) => [takenUntil, sessionId]);
        await reach(redis.zadd(keys.activeIndex, 'XX', ...next));
      }
      return due.map((sessionId) => ({ sessionId, takenUntil }));
    },
    postpone: async ({ sessionId, takenUntil }, byMs) => {
      await transitions.postpone(keys.activeIndex, sessionId, takenUntil, now() + byMs);
    },
    forget: async (sessionId) => {
      await reach(redis.zrem(keys.activeIndex, sessionId));
    },
    leaseSweep: async (holder, forMs) =>
      (await reach(redis.set(keys.sweepLease, holder, 'PX', forMs, 'NX'))) === 'OK',
  };
}
