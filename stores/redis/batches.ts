import { LIMITS } from '../../protocol/limits.js';
import type { Batches, BatchWork } from '../contract/batches.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';
import { parseStored } from './stored-json.js';

/** From the last write; a batch that waits longer for a worker has no work any more. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
const PROBLEM = 'problem:';

/** A hash for each batch, and a list of batches for each person. */
export function createBatchRecords({
  redis,
  keys,
  now,
}: Pick<RedisContext, 'redis' | 'keys' | 'now'>): Batches {
  const keep = (key: string): Promise<unknown> => callRedis(redis.pexpire(key, KEPT_MS));

  async function work(batchId: string): Promise<BatchWork | undefined> {
    const stored = await callRedis(redis.hget(keys.batch(batchId), 'work'));
    return stored === null ? undefined : (parseStored(stored, 'batch') as BatchWork);
  }

  return {
    work,
    save: async (batchId, asked) => {
      const { userId: owner, tenantId: tenant } = asked.actor;
      const [key, list] = [keys.batch(batchId), keys.batchesOf({ owner, tenant })];
      // The list first: an erasure finds whatever is stored.
      await callRedis(redis.zadd(list, now(), batchId));
      await keep(list);
      await callRedis(redis.hset(key, 'by', owner));
      await keep(key);
      const isNew = await callRedis(redis.hsetnx(key, 'work', JSON.stringify(asked)));
      return isNew === 1 ? asked : ((await work(batchId)) ?? asked);
    },
    refuse: async (batchId, problems) => {
      const key = keys.batch(batchId);
      for (const { target, code } of problems) {
        await callRedis(redis.hset(key, PROBLEM + target, code));
      }
      if (problems.length > 0) await keep(key);
    },
    about: async (batchId) => {
      const key = keys.batch(batchId);
      const names = await callRedis(redis.hkeys(key));
      const refused = names.filter((name) => name.startsWith(PROBLEM));
      const fields = refused.slice(0, LIMITS.batchProblems);
      const [by, ...codes] = await callRedis(redis.hmget(key, 'by', ...fields));
      const problems = fields.flatMap((field, at) => {
        const code = codes[at];
        return code == null ? [] : { target: field.slice(PROBLEM.length), code };
      });
      return { ...(by != null && { by }), problems };
    },
    end: async (batchId) => {
      await callRedis(redis.hdel(keys.batch(batchId), 'work'));
    },
    of: async (who) => callRedis(redis.zrangebyscore(keys.batchesOf(who), '-inf', '+inf')),
    forget: async (who, batchId) => {
      await callRedis(redis.unlink(keys.batch(batchId)));
      await callRedis(redis.zrem(keys.batchesOf(who), batchId));
    },
  };
}
