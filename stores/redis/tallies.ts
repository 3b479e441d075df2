import type { Tallies } from '../contract/tallies.js';
import type { RedisContext } from './context.js';
import { callRedis } from './errors.js';

/** Counts are kept in hashes of this length of time, so that a period begins up to this much early. */
const BUCKET_MS = 5 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
const LONGEST_MS = 25 * 60 * 60_000;
/** Also the same hours of a week ago are read. */
const KEPT_MS = 7 * DAY_MS + LONGEST_MS;
const READ_AT_ONCE = 32;

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
    read: async (withinMs, agoMs = 0) => {
      const end = now() - agoMs;
      const last = bucketAt(end);
      const first = bucketAt(end - Math.min(withinMs, LONGEST_MS));
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
