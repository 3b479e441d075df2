import type { Due } from '../contract/due.js';
import { untilWritten, type Check, type Write } from '../../store/redis/write-if.js';
import { dueShardOf } from '../record/due-shards.js';
import type { RedisContext } from './context.js';
import { isOutOfMemory, callRedis } from './errors.js';

type Context = Pick<RedisContext, 'redis' | 'keys' | 'writeIf' | 'now'>;

/** The lists of due sessions of one fleet. */
export function createDueLists(context: Context, fleet = ''): Due {
  const { redis, keys, writeIf, now } = context;
  const { takeFrom, move } = createTakenLists(context);
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
        const scores = await Promise.all(
          [lists.urgent, lists.routine].map((list) => redis.zscore(list, sessionId)),
        );
        if (scores.every((score) => score === null)) throw error;
        const writes: Write[] = [
          ['ZREM', lists.routine, sessionId],
          ['ZADD', lists.urgent, at, sessionId],
        ];
        await writeIf([], writes, { isFreeing: true });
      });
      await Promise.all([callRedis(noted), callRedis(redis.zrem(lists.routine, sessionId))]);
    },
    noteLater: async (sessionId, inMs) => {
      await callRedis(redis.zadd(listsOf(sessionId).routine, 'NX', now() + inMs, sessionId));
    },
    lease: (shard, holder, forMs) => lease(keys.due(fleet, shard).lease, holder, forMs),
    take: async (shard, most, forMs) => {
      const takenUntil = now() + forMs;
      const lists = keys.due(fleet, shard);
      const urgent = await takeFrom(lists.urgent, takenUntil, most.urgent);
      const routine = await takeFrom(lists.routine, takenUntil, most.routine);
      return [
        ...urgent.map((sessionId) => ({ sessionId, list: 'urgent' as const, takenUntil })),
        ...routine.map((sessionId) => ({ sessionId, list: 'routine' as const, takenUntil })),
      ];
    },
    put: async ({ sessionId, list, takenUntil }, onto, inMs) => {
      const lists = listsOf(sessionId);
      await move(lists[list], lists[onto], sessionId, takenUntil, now() + inMs);
    },
    drop: async ({ sessionId, list, takenUntil }) => {
      const from = listsOf(sessionId)[list];
      await move(from, from, sessionId, takenUntil);
    },
    listed: (list, shard, from, most) =>
      callRedis(
        redis.zrangebyscore(keys.due(fleet, shard)[list], '-inf', '+inf', 'LIMIT', from, most),
      ),
    leaseClosed: (holder, forMs) => lease(keys.closed(fleet), holder, forMs),
  };
}

interface TakenLists {
  /** Takes the oldest that are due; they become due again at `takenUntil`, in case the process that took them dies. */
  takeFrom: (list: string, takenUntil: number, most: number) => Promise<string[]>;
  /** Moves one that was taken, unless it was noted as due since; without `at` it is taken off. */
  move: (
    from: string,
    onto: string,
    member: string,
    takenUntil: number,
    at?: number,
  ) => Promise<void>;
}

/** Lists of what is due, each a sorted set by time. */
function createTakenLists({
  redis,
  writeIf,
  now,
}: Pick<RedisContext, 'redis' | 'writeIf' | 'now'>): TakenLists {
  return {
    takeFrom: (list, takenUntil, most) =>
      untilWritten(async () => {
        if (most === 0) return [];
        const flat = await callRedis(
          redis.zrangebyscore(list, '-inf', now(), 'WITHSCORES', 'LIMIT', 0, most),
        );
        const due = flat.flatMap((member, at): [string, string][] =>
          at % 2 === 0 ? [[member, flat[at + 1] ?? '']] : [],
        );
        const checks = due.map(([member, score]): Check => [score, 'ZSCORE', list, member]);
        const writes = due.map(([member]): Write => ['ZADD', list, takenUntil, member]);
        return (await writeIf(checks, writes)) ? due.map(([member]) => member) : undefined;
      }),
    move: async (from, onto, member, takenUntil, at) => {
      const writes: Write[] = [];
      if (onto !== from || at === undefined) writes.push(['ZREM', from, member]);
      if (at !== undefined) writes.push(['ZADD', onto, at, member]);
      await writeIf([[String(takenUntil), 'ZSCORE', from, member]], writes);
    },
  };
}
