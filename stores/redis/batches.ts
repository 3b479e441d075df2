import type { BatchProblem } from '../../protocol/batch-run.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Batches, BatchWork } from '../contract/batches.js';
import { untilWritten, type Write } from '../../store/redis/write-if.js';
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
  writeIf,
  now,
}: Pick<RedisContext, 'redis' | 'keys' | 'writeIf' | 'now'>): Batches {
  async function work(batchId: string): Promise<BatchWork | undefined> {
    const stored = await callRedis(redis.hget(keys.batch(batchId), 'work'));
    return stored === null ? undefined : (parseStored(stored, 'batch') as BatchWork);
  }

  return {
    work,
    save: async (batchId, asked, problems = []) => {
      const { userId: owner, tenantId: tenant } = asked.actor;
      const [key, list] = [keys.batch(batchId), keys.batchesOf({ owner, tenant })];
      const known = problems.slice(0, LIMITS.batchProblems);
      // The list first: an erasure finds whatever is stored.
      await callRedis(
        writeIf(
          [],
          [
            ['ZADD', list, now(), batchId],
            // A record may have been written again since, and then lives longer than its score says.
            ['ZREMRANGEBYSCORE', list, '-inf', now() - 2 * KEPT_MS],
            ['PEXPIRE', list, 2 * KEPT_MS],
          ],
        ),
      );
      // A process that dies in between would leave a record without its limit.
      await callRedis(
        writeIf(
          [],
          [
            ['HSET', key, 'by', owner],
            ['HSETNX', key, 'refused', JSON.stringify(known)],
            ['HSETNX', key, 'work', JSON.stringify(asked)],
            ['PEXPIRE', key, KEPT_MS],
          ],
        ),
      );
      return (await work(batchId)) ?? asked;
    },
    refuse: async (batchId, problems) => {
      if (problems.length === 0) return;
      const key = keys.batch(batchId);
      await untilWritten(async () => {
        const [by, names] = await callRedis(Promise.all([redis.hget(key, 'by'), redis.hkeys(key)]));
        // An attempt may outlive its batch and the erasure of its person: a record that is gone is not made again.
        if (by === null) return true;
        const known = new Set(names.filter((name) => name.startsWith(PROBLEM)));
        const writes: Write[] = problems.flatMap(({ target, code }): Write[] => {
          if (known.size >= LIMITS.batchProblems && !known.has(PROBLEM + target)) return [];
          known.add(PROBLEM + target);
          return [['HSET', key, PROBLEM + target, code]];
        });
        const isWritten = await writeIf(
          [[by, 'HGET', key, 'by']],
          [...writes, ['PEXPIRE', key, KEPT_MS]],
        );
        return isWritten || undefined;
      });
    },
    about: async (batchId) => {
      const key = keys.batch(batchId);
      const names = await callRedis(redis.hkeys(key));
      const fields = names.filter((name) => name.startsWith(PROBLEM));
      const found = await callRedis(redis.hmget(key, 'by', 'refused', ...fields));
      const [by, refused, ...codes] = found;
      const before = refused == null ? [] : (parseStored(refused, 'batch') as BatchProblem[]);
      const meanwhile = fields.flatMap((field, at) => {
        const code = codes[at];
        return code == null ? [] : { target: field.slice(PROBLEM.length), code };
      });
      const problems = [...before, ...meanwhile].slice(0, LIMITS.batchProblems);
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
