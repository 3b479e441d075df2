import { Redis } from 'ioredis';
import type { PrivateRedis, startPrivateRedis } from '../../scripts/engines/private-engines.mjs';

/** Commands above this are listed one by one, so that the longest of several is known. */
const LISTED_ABOVE_US = 200;

type Start = typeof startPrivateRedis;

/**
 * A Redis of its own, as the product runs it. The other measurements share one with a worker and an
 * API, whose scripts would be counted, too.
 */
export async function startServer(): Promise<PrivateRedis> {
  // The scripts stand beside the build, not in it.
  const load = (file: string): Promise<unknown> =>
    import(new URL(`../../../scripts/engines/${file}`, import.meta.url).href);
  const { findRedis } = (await load('redis.mjs')) as { findRedis: () => Promise<string> };
  const engines = (await load('private-engines.mjs')) as { startPrivateRedis: Start };
  const server = await engines.startPrivateRedis({ file: await findRedis() });
  const redis = new Redis(server.url);
  await redis.config('SET', 'slowlog-log-slower-than', LISTED_ABOVE_US);
  await redis.config('SET', 'slowlog-max-len', 1_000);
  // A rewrite would fork in the middle of a measurement.
  await redis.config('SET', 'auto-aof-rewrite-percentage', 0);
  redis.disconnect();
  return server;
}
