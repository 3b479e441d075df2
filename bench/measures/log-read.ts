import { Redis } from 'ioredis';
import type { StreamManager } from '../../stores/log/stream-manager.js';
import { createKeySpace } from '../../stores/redis/keys.js';
import { jsonOf } from '../../stores/transitions/lib/entries.js';

/** What it takes to have a whole log in a process: one XRANGE, each chunk parsed. ms */
export async function measureLogFloor(
  redisUrl: string,
  sessionId: string,
  times: number,
): Promise<number[]> {
  const redis = new Redis(redisUrl);
  const { stream } = createKeySpace().session(sessionId);
  const samples: number[] = [];
  try {
    await redis.ping();
    for (let count = 0; count < times; count += 1) {
      const startedAt = performance.now();
      const entries = await redis.xrange(stream, '-', '+');
      for (const [, fields] of entries) JSON.parse(jsonOf(fields));
      samples.push(performance.now() - startedAt);
    }
  } finally {
    redis.disconnect();
  }
  return samples;
}

/** A follower of the log, from its beginning until it has so many chunks. ms */
export async function measureLogRead(
  streamManager: Pick<StreamManager, 'follow'>,
  sessionId: string,
  chunks: number,
  times: number,
): Promise<number[]> {
  const samples: number[] = [];
  for (let count = 0; count < times; count += 1) {
    const leave = new AbortController();
    const startedAt = performance.now();
    let received = 0;
    for await (const entries of streamManager.follow(sessionId, 0, leave.signal)) {
      received += entries.length;
      if (received < chunks) continue;
      samples.push(performance.now() - startedAt);
      leave.abort();
    }
  }
  return samples;
}
