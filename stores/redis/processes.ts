import { randomUUID } from 'node:crypto';
import { FIRST_LAYOUT } from '../transitions/lib/layout.js';
import type { RedisConnection } from './clients.js';

/** A process that uses the keys. Release 0.2.0 announces nothing: see `writes`. */
export interface Announcement {
  /** Hash of the library that it calls. */
  library: string;
  /** Layout of the records that it reads. */
  layout: number;
}

export interface Processes {
  /** The layout in which records are written: at most `writes`, and what every living process reads. */
  layout: () => number | Promise<number>;
  /** This process is at work; costs nothing as long as its announcement is fresh. */
  touch: () => void;
  /** Announces itself from now on by a timer, which keeps no process alive. */
  start: () => void;
  /** Takes its announcement back. */
  close: () => Promise<void>;
}

export interface ProcessesOptions extends Announcement {
  /** The highest layout to write. The first one needs no look at other processes. */
  writes: number;
  /** A sorted set of announcements, by the time until which they hold. */
  key: string;
  /** Is told the libraries of all living processes, this one included, when they were read. */
  onRead?: (libraries: string[]) => void;
}

const HOLDS_MS = 120_000;
const RENEW_MS = 30_000;
/** Writers wait no longer for others' announcements, and ask no earlier again after a failure. */
const PATIENCE_MS = 500;
const PAUSE_MS = 5_000;

/**
 * Which processes are alive, and what they read: so that a release writes nothing which an earlier
 * one beside it would misread. Times are those of Redis.
 */
export function createProcesses(
  redis: RedisConnection,
  { key, library, layout: own, writes, onRead }: ProcessesOptions,
): Processes {
  const name = JSON.stringify({ library, layout: own, id: randomUUID() });
  let known: { layout: number; at: number } | undefined;
  let round: { begun: number; isOver: boolean; done: Promise<void> } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function announce(): Promise<void> {
    const begun = performance.now();
    const [seconds] = await redis.time();
    if (isClosed) return;
    const now = Number(seconds) * 1_000;
    // A full Redis takes no announcement, and a replica none at all.
    const [, , read] = await Promise.allSettled([
      redis.zadd(key, now + HOLDS_MS, name),
      redis.zremrangebyscore(key, '-inf', now),
      redis.zrangebyscore(key, `(${String(now)}`, '+inf'),
    ]);
    // Where this one is missing, others may be.
    if (read.status === 'rejected' || !read.value.includes(name)) return;
    const living = read.value.flatMap(toAnnouncement);
    known = { layout: Math.min(...living.map(({ layout }) => layout)), at: begun };
    onRead?.(living.map((process) => process.library));
  }

  function begin(): NonNullable<typeof round> {
    const started = { begun: performance.now(), isOver: false, done: Promise.resolve() };
    started.done = announce()
      .catch(() => undefined)
      .then(() => {
        started.isOver = true;
      });
    round = started;
    return started;
  }

  /** The round to wait for; undefined where there is none that will soon be over. */
  function renew(): Promise<void> | undefined {
    if (round === undefined) return begin().done;
    const age = performance.now() - round.begun;
    if (!round.isOver) return age < PATIENCE_MS ? round.done : undefined;
    return age < PAUSE_MS ? undefined : begin().done;
  }

  const isFresh = (): boolean => known !== undefined && performance.now() - known.at < RENEW_MS;
  /** The earliest one, as long as nothing is known. */
  const lowest = (): number => Math.min(writes, known?.layout ?? FIRST_LAYOUT);
  const announceAgain = (): void => {
    if (round?.isOver !== false) begin();
  };

  return {
    layout: () => {
      if (writes === FIRST_LAYOUT || isFresh()) return lowest();
      const renewed = renew();
      return renewed === undefined ? lowest() : within(PATIENCE_MS, renewed).then(lowest);
    },
    touch: () => {
      if (!isFresh()) void renew();
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
      if (round === undefined || redis.status !== 'ready') return;
      await within(PATIENCE_MS, redis.zrem(key, name)).catch(() => undefined);
    },
  };
}

/** What cannot be read was written by a release that is yet to come, which reads ours. */
function toAnnouncement(json: string): Announcement[] {
  try {
    const { library, layout } = JSON.parse(json) as Partial<Announcement>;
    return typeof library === 'string' && typeof layout === 'number' ? [{ library, layout }] : [];
  } catch {
    return [];
  }
}

/** Waits for work, but not longer than that. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
