import { randomUUID } from 'node:crypto';
import { withTimeout } from '../../protocol/time.js';
import { FIRST_LAYOUT } from '../transitions/lib/layout.js';
import type { RedisConnection } from './clients.js';

/** A process that uses the keys. Processes of release 0.2.0 announce nothing, see `writes`. */
export interface Announcement {
  /** Hash of the library that it calls. */
  library: string;
  /** Layout of the records that it can read. */
  layout: number;
}

export interface Processes {
  /**
   * The layout in which records are written: at most `writes`, and readable by every living
   * process.
   */
  layout: () => number | Promise<number>;
  /** The highest layout that every living process can read. */
  readable: () => number | Promise<number>;
  /** Renews the announcement of this process; free while the announcement is fresh. */
  touch: () => void;
  /** Renews the announcement from now on with a timer, which does not keep the process alive. */
  start: () => void;
  /** Withdraws the announcement. */
  close: () => Promise<void>;
}

export interface ProcessesOptions extends Announcement {
  /** The highest layout to write. For the first layout other processes need not be checked. */
  writes: number;
  /** A sorted set of announcements by expiry time. */
  key: string;
  /**
   * Called with the libraries of all living processes, including this one, after they were read.
   */
  onRead?: (libraries: string[]) => void;
}

const HOLDS_MS = 120_000;
const RENEW_MS = 30_000;
/**
 * Writers wait at most this long for the announcements of others, and retry a failed read after the
 * pause.
 */
const PATIENCE_MS = 500;
const PAUSE_MS = 5_000;

/**
 * Tracks which processes are alive and which layouts they read, so that a release never writes what
 * an earlier one would misread. Times are those of Redis.
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
    // A full Redis refuses the announcement; a replica refuses any write.
    const [, , read] = await Promise.allSettled([
      redis.zadd(key, now + HOLDS_MS, name),
      redis.zremrangebyscore(key, '-inf', now),
      redis.zrangebyscore(key, `(${String(now)}`, '+inf'),
    ]);
    // If our own announcement is missing, others may be missing too.
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

  /** The read to wait for; undefined if none will complete soon. */
  function renew(): Promise<void> | undefined {
    if (round === undefined) return begin().done;
    const age = performance.now() - round.begun;
    if (!round.isOver) return age < PATIENCE_MS ? round.done : undefined;
    return age < PAUSE_MS ? undefined : begin().done;
  }

  const isFresh = (): boolean => known !== undefined && performance.now() - known.at < RENEW_MS;
  /** The lowest layout as long as nothing is known. */
  const lowest = (): number => Math.min(writes, known?.layout ?? FIRST_LAYOUT);
  const announceAgain = (): void => {
    if (round?.isOver !== false) begin();
  };

  /** Read again if what is known is too old. */
  function whenFresh(read: () => number): number | Promise<number> {
    if (isFresh()) return read();
    const renewed = renew();
    return renewed === undefined
      ? read()
      : withTimeout(PATIENCE_MS, renewed)
          .catch(() => undefined)
          .then(read);
  }

  return {
    layout: () => (writes === FIRST_LAYOUT ? lowest() : whenFresh(lowest)),
    readable: () => whenFresh(() => known?.layout ?? FIRST_LAYOUT),
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
      await withTimeout(PATIENCE_MS, redis.zrem(key, name)).catch(() => undefined);
    },
  };
}

/** An announcement that cannot be parsed was written by a later release, which reads our layout. */
function toAnnouncement(json: string): Announcement[] {
  try {
    const { library, layout } = JSON.parse(json) as Partial<Announcement>;
    return typeof library === 'string' && typeof layout === 'number' ? [{ library, layout }] : [];
  } catch {
    return [];
  }
}
