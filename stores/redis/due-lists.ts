import type { Due } from '../contract/due.js';
import { dueShardOf } from '../record/due-shards.js';
import type { RedisContext } from './context.js';
import { isOutOfMemory, callRedis } from './errors.js';

type Context = Pick<RedisContext, 'redis' | 'keys' | 'transitions' | 'now'>;

/** The lists of due sessions of one fleet. */
export function createDueLists(context: Context, fleet = ''): Due {
  const { redis, keys, transitions, now } = context;
  const listsOf = (sessionId: string) => keys.due(fleet, dueShardOf(sessionId));
  const lease = async (key: string, holder: string, forMs: number): Promise<boolean> =>
    (await callRedis(redis.set(key, holder, 'PX', forMs, 'NX'))) === 'OK';

  return {
    of: (other) => createDueLists(context, other),
    note: async (sessionId, inMs) => {
      const at = now() + inMs;
      const lists = listsOf(sessionId);
      const noted = redis.zadd(lists.urgent, at, sessionId).catch(async (error: unknown) => {
        // A full Redis still allows listed runs to be answered and ended.
        if (!isOutOfMemory(error)) throw error;
        if (!(await transitions.noteDue(lists, sessionId, at))) throw error;
      });
      await Promise.all([callRedis(noted), callRedis(redis.zrem(lists.routine, sessionId))]);
    },
    noteLater: async (sessionId, inMs) => {
      await callRedis(redis.zadd(listsOf(sessionId).routine, 'NX', now() + inMs, sessionId));
    },
    lease: (shard, holder, forMs) => lease(keys.due(fleet, shard).lease, holder, forMs),
    take: async (shard, most, forMs) => {
      const at = now();
      const takenUntil = at + forMs;
      const times = { now: at, again: takenUntil };
      const taken = await transitions.takeDue(keys.due(fleet, shard), times, most);
      return (['urgent', 'routine'] as const).flatMap((list) =>
        taken[list].map((sessionId) => ({ sessionId, list, takenUntil })),
      );
    },
    put: async ({ sessionId, list, takenUntil }, onto, inMs) => {
      const lists = listsOf(sessionId);
      await transitions.putDue(lists[list], lists[onto], sessionId, takenUntil, now() + inMs);
    },
    drop: async ({ sessionId, list, takenUntil }) => {
      const from = listsOf(sessionId)[list];
      await transitions.putDue(from, from, sessionId, takenUntil);
    },
    listed: (list, shard, from, most) =>
      callRedis(
        redis.zrangebyscore(keys.due(fleet, shard)[list], '-inf', '+inf', 'LIMIT', from, most),
      ),
    leaseClosed: (holder, forMs) => lease(keys.closed(fleet).lease, holder, forMs),
    closedAt: async () => Number((await callRedis(redis.hget(keys.closed(fleet).at, 'at'))) ?? 0),
    noteClosed: async (at) => {
      await callRedis(redis.hset(keys.closed(fleet).at, 'at', String(at)));
    },
  };
}
