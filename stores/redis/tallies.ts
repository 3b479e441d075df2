import type { Tallies } from '../contract/tallies.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';

/** Counts are kept in hashes of this length of time, so that a period begins up to this much early. */
const BUCKET_MS = 5 * 60_000;
const KEPT_MS = 25 * 60 * 60_000;
const READ_AT_ONCE = 16;

export function createTallies({
  redis,
  keys,
  now,
}: Pick<RedisContext, 'redis' | 'keys' | 'now'>): Tallies {
  const bucketAt = (ms: number): number => Math.floor(ms / BUCKET_MS);
  return {
    add: async (counts) => {
      const key = keys.tally(bucketAt(now()));
      const adds = Object.entries(counts).map(([name, by]) =>
        callRedis(redis.hincrby(key, name, by)),
      );
      await Promise.all([...adds, callRedis(redis.pexpire(key, KEPT_MS))]);
    },
    read: async (withinMs) => {
      const last = bucketAt(now());
      const first = bucketAt(now() - Math.min(withinMs, KEPT_MS));
      const buckets = Array.from({ length: last - first + 1 }, (_, at) => first + at);
      const sums: Record<string, number> = {};
      for (let at = 0; at < buckets.length; at += READ_AT_ONCE) {
        const page = buckets.slice(at, at + READ_AT_ONCE);
        const found = await Promise.all(
          page.map((bucket) => callRedis(redis.hgetall(keys.tally(bucket)))),
        );
        for (const [name, count] of found.flatMap((counts) => Object.entries(counts))) {
          sums[name] = (sums[name] ?? 0) + Number(count);
        }
      }
      return sums;
    },
  };
}
