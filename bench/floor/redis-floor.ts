import { Redis } from 'ioredis';
import { wallClock } from '../clock.js';
import { startChild } from '../processes/child.js';
import { newSessionId } from '../client/session-ids.js';

/** First stamps of each stream, which meet connections and code that are cold. */
const WARM_UP = 75;

/**
 * What Redis alone takes from one process to another: XADD there, a blocking XREAD per stream here,
 * at the rate of the product's streams.
 *
 * @returns latencies in ms
 */
export async function measureRedisFloor(
  redisUrl: string,
  { streams, stamps, everyMs }: { streams: number; stamps: number; everyMs: number },
): Promise<number[]> {
  const prefix = `floor:${newSessionId()}:`;
  const readers = Array.from({ length: streams }, () => new Redis(redisUrl));
  const latencies: number[] = [];
  const args = [redisUrl, prefix, streams, stamps, everyMs].map(String);
  const writer = startChild('bench/floor/redis-writer.js', { args });
  try {
    await Promise.all(
      readers.map((reader, index) => read(reader, `${prefix}${String(index)}`, stamps, latencies)),
    );
  } finally {
    for (const reader of readers) reader.disconnect();
    await writer.stop();
  }
  return latencies;
}

async function read(redis: Redis, key: string, stamps: number, latencies: number[]): Promise<void> {
  let cursor = '0';
  const from = Math.min(WARM_UP, stamps / 2);
  for (let count = 0; count < stamps;) {
    const replies = await redis.xread('BLOCK', 0, 'STREAMS', key, cursor);
    const at = wallClock();
    for (const [id, fields] of replies?.[0]?.[1] ?? []) {
      if (count >= from) latencies.push(at - Number(fields[1]));
      cursor = id;
      count += 1;
    }
  }
}
