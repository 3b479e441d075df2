import { randomUUID } from 'node:crypto';
import { withTimeout } from '../../protocol/time.js';
import type { RedisConnection } from './clients.js';

export interface Processes {
  /** Renews the announcement of this process; free while the announcement is fresh. */
  touch: () => void;
  /** Renews the announcement from now on with a timer, which does not keep the process alive. */
  start: () => void;
  /** Withdraws the announcement. */
  close: () => Promise<void>;
}

export interface ProcessesOptions {
  /** A sorted set of announcements by expiry time. */
  key: string;
  /** Hash of the library that this process calls. */
  library: string;
  /**
   * Called with the libraries of all living processes, including this one, after they were read.
   */
  onRead: (libraries: string[]) => void;
}

const HOLDS_MS = 120_000;
const RENEW_MS = 30_000;
/** A failed read is repeated after this pause. */
const PAUSE_MS = 5_000;
const CLOSE_MS = 500;

/** Tracks the libraries that living processes call. Times are those of Redis. */
export function createProcesses(
  redis: RedisConnection,
  { key, library, onRead }: ProcessesOptions,
): Processes {
  const name = JSON.stringify({ library, id: randomUUID() });
  let readAt = -Infinity;
  let begunAt = -Infinity;
  let isReading = false;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function announce(): Promise<void> {
    const begun = performance.now();
    const [seconds] = await redis.time();
    if (isClosed) return;
    const now = Number(seconds) * 1_000;
    // A full Redis refuses the announcement; a replica refuses any write.
    const [, , read] = await Promise.allSettled([
      redis.zadd(key, now + HOLDS_MS, name),
      redis.zremrangebyscore(key, '-inf', now),
      redis.zrangebyscore(key, `(${String(now)}`, '+inf'),
    ]);
    // If our own announcement is missing, others may be missing too.
    if (read.status === 'rejected' || !read.value.includes(name)) return;
    readAt = begun;
    onRead(read.value.flatMap(toLibrary));
  }

  function announceAgain(): void {
    if (isReading) return;
    isReading = true;
    begunAt = performance.now();
    announce()
      .catch(() => undefined)
      .finally(() => {
        isReading = false;
      });
  }

  return {
    touch: () => {
      const now = performance.now();
      if (now - readAt >= RENEW_MS && now - begunAt >= PAUSE_MS) announceAgain();
    },
    start: () => {
      timer = setInterval(announceAgain, RENEW_MS);
      timer.unref();
      redis.on('ready', announceAgain);
      if (redis.status === 'ready') announceAgain();
    },
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      redis.off('ready', announceAgain);
      if (begunAt === -Infinity || redis.status !== 'ready') return;
      await withTimeout(CLOSE_MS, redis.zrem(key, name)).catch(() => undefined);
    },
  };
}

/** An announcement that cannot be parsed is of a build that announces otherwise. */
function toLibrary(json: string): string[] {
  try {
    const { library } = JSON.parse(json) as { library?: unknown };
    return typeof library === 'string' ? [library] : [];
  } catch {
    return [];
  }
}
