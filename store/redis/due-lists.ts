import { type Due, dueShardOf } from '../contract/due.js';
import type { RedisContext } from './context.js';
import { isOutOfMemory } from './errors.js';
import { lowest } from './scored-list.js';
import { untilWritten, type Check, type Write } from './write-if.js';

export function createDueLists(context: RedisContext, fleet = ''): Due {
  const { redis, keys, writeIf, now } = context;
  const listsOf = (sessionId: string) => keys.due(fleet, dueShardOf(sessionId));
  const lease = async (key: string, holder: string, forMs: number): Promise<boolean> => {
    if ((await redis.set(key, holder, 'PX', forMs, 'NX')) === 'OK') return true;
    // If the clock of Redis was set back, the lease would last longer by as much.
    if ((await redis.pttl(key)) > forMs) await redis.pexpire(key, forMs);
    return false;
  };

  /** Takes the oldest due sessions. They become due again at `takenUntil`, in case the taking process dies. */
  const takeFrom = (list: string, takenUntil: number, max: number): Promise<string[]> =>
    untilWritten(async () => {
      if (max === 0) return [];
      const due = await lowest(redis, list, now(), max);
      const checks = due.map(({ member, text }): Check => [text, 'ZSCORE', list, member]);
      const writes = due.map(({ member }): Write => ['ZADD', list, takenUntil, member]);
      return (await writeIf(checks, writes)) ? due.map(({ member }) => member) : undefined;
    });

  return {
    of: (other) => createDueLists(context, other),
    note: async (sessionId, inMs, isFreeing = false) => {
      const at = now() + inMs;
      const lists = listsOf(sessionId);
      const noted = redis.zadd(lists.urgent, at, sessionId).catch(async (error: unknown) => {
        // A full Redis still allows listed runs to be answered and ended.
        if (!isOutOfMemory(error)) throw error;
        const scores = await Promise.all(
          [lists.urgent, lists.routine].map((list) => redis.zscore(list, sessionId)),
        );
        if (!isFreeing && scores.every((score) => score === null)) throw error;
        const writes: Write[] = [
          ['ZREM', lists.routine, sessionId],
          ['ZADD', lists.urgent, at, sessionId],
        ];
        await writeIf([], writes, { isFreeing: true });
      });
      await Promise.all([noted, redis.zrem(lists.routine, sessionId)]);
    },
    noteLater: async (sessionId, inMs) => {
      await redis.zadd(listsOf(sessionId).routine, 'NX', now() + inMs, sessionId);
    },
    lease: (shard, holder, forMs) => lease(keys.due(fleet, shard).lease, holder, forMs),
    take: async (shard, max, forMs) => {
      const takenUntil = now() + forMs;
      const lists = keys.due(fleet, shard);
      const takes = (['urgent', 'routine'] as const).map(async (list) => {
        const taken = await takeFrom(lists[list], takenUntil, max[list]);
        return taken.map((sessionId) => ({ sessionId, list, takenUntil }));
      });
      return (await Promise.all(takes)).flat();
    },
    put: async ({ sessionId, list, takenUntil }, onto, inMs) => {
      const lists = listsOf(sessionId);
      const writes: Write[] = [['ZADD', lists[onto], now() + inMs, sessionId]];
      if (onto !== list) writes.unshift(['ZREM', lists[list], sessionId]);
      await writeIf([[String(takenUntil), 'ZSCORE', lists[list], sessionId]], writes);
    },
    drop: async ({ sessionId, list, takenUntil }) => {
      const from = listsOf(sessionId)[list];
      const check: Check = [String(takenUntil), 'ZSCORE', from, sessionId];
      await writeIf([check], [['ZREM', from, sessionId]]);
    },
    listed: (list, shard, from, max) =>
      redis.zrangebyscore(keys.due(fleet, shard)[list], '-inf', '+inf', 'LIMIT', from, max),
    leaseWork: (work, holder, forMs) => lease(keys.work(fleet, work), holder, forMs),
  };
}
