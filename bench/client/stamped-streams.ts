import { Redis } from 'ioredis';
import { wallClock } from '../clock.js';
import { startChild } from '../processes/child.js';
import { newSessionId } from './chat-client.js';

/** The first stamps of each stream do not count, because connections and code are cold. */
const WARM_UP = 75;

/** Number of streams, and of stamps in each. */
export interface StreamSize {
  streams: number;
  stamps: number;
  everyMs: number;
}

/** Starts a process that writes stamped streams, as a worker would. They wait for `begin`. */
export async function startStampedStreams(
  redisUrl: string,
  { streams, stamps, everyMs }: StreamSize,
  kind: 'turns' | 'bare' = 'turns',
) {
  const prefix = `${newSessionId()}-`;
  const args = [redisUrl, prefix, streams, stamps, everyMs, kind].map(String);
  const nodeArgs = ['--max-semi-space-size=64'];
  const writer = startChild('bench/load/stamp-writer.js', { args, nodeArgs });
  await writer.hear();
  const done = writer.hear();
  // Callers of `done` see the rejection; a measurement that failed earlier never awaits it.
  done.catch(() => undefined);
  return {
    /** Session ids of the turns, or keys of bare streams. */
    sessions: Array.from({ length: streams }, (_, index) => `${prefix}${String(index)}`),
    begin: () => writer.tell('begin'),
    /** Resolves when everything is stored. */
    done,
    stop: writer.stop,
  };
}

/**
 * Measures Redis alone between two processes: XADD there, a blocking XREAD per stream here, at the rate of
 * the product's streams.
 *
 * @returns latencies in ms
 */
export async function measureRedisFloor(redisUrl: string, size: StreamSize): Promise<number[]> {
  const writer = await startStampedStreams(redisUrl, size, 'bare');
  const readers = writer.sessions.map((key) => ({ key, redis: new Redis(redisUrl) }));
  const latencies: number[] = [];
  try {
    const reading = readers.map(({ key, redis }) => readBare(redis, key, size.stamps, latencies));
    writer.begin();
    await Promise.all(reading);
  } finally {
    for (const { redis } of readers) redis.disconnect();
    await writer.stop();
  }
  return latencies;
}

async function readBare(
  redis: Redis,
  key: string,
  stamps: number,
  latencies: number[],
): Promise<void> {
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
