import type { Redis } from 'ioredis';
import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import { createChannels } from './channels.js';

/** A quiet follower looks into the log this often: a publish may be lost, the log is not. */
const IDLE_CHECK_MS = 4_000;
/** Batches kept for a follower that reads slowly; beyond that it reads the log again. */
const MAX_QUEUED_BATCHES = 256;
/** A follower waits this long for a Redis that is away, then gives up. */
const OUTAGE_MS = 30_000;

/** What a script published: the entries, and the sequence before them. */
interface Batch {
  previous: number;
  entries: LogEntry[];
}

interface Follower {
  queue: Batch[];
  /** The queue does not tell the whole story: read the log. */
  stale: boolean;
  wake: (() => void) | undefined;
}

/** The log that a tail keeps to. */
export interface TailedLog {
  channelOf: (streamId: string) => string;
  read: (streamId: string, fromSequence: number, limit: number) => Promise<LogEntry[]>;
  /** Puts what is kept apart back into published entries. */
  resolve: (streamId: string, entries: LogEntry[]) => LogEntry[] | Promise<LogEntry[]>;
}

/**
 * Follows sessions' logs: subscribe, then read the log from the cursor, then go live. The log is
 * the truth; the channel only saves the read. Each message is parsed once for all followers.
 */
export function createTail(
  subscriber: Redis,
  log: TailedLog,
): {
  follow: (
    sessionId: string,
    fromSequence: number,
    signal: AbortSignal,
  ) => AsyncGenerator<LogEntry[]>;
} {
  const channels = createChannels<Follower>(subscriber, (followers, message) => {
    const batch = parseBatch(message);
    for (const follower of followers) offer(follower, batch);
  });
  // A broken connection may have swallowed messages. The ping is answered after the renewed
  // subscriptions, so that nothing falls between them and the read.
  subscriber.on('ready', () => {
    void subscriber
      .ping()
      .catch(() => undefined)
      .then(() => {
        for (const follower of channels.all()) markStale(follower);
      });
  });

  async function* follow(
    sessionId: string,
    fromSequence: number,
    signal: AbortSignal,
  ): AsyncGenerator<LogEntry[]> {
    const follower: Follower = { queue: [], stale: true, wake: undefined };
    const abort = (): void => follower.wake?.();
    const leave = await channels.join(log.channelOf(sessionId), follower);
    signal.addEventListener('abort', abort);
    let cursor = fromSequence;
    try {
      while (!signal.aborted) {
        if (follower.stale) {
          follower.stale = false;
          for await (const page of pagesAfter(cursor)) {
            cursor = page[page.length - 1]?.sequence ?? cursor;
            yield page;
            if (isAborted(signal)) return;
          }
        }
        const batch = follower.queue.shift();
        if (batch === undefined) {
          await nextEvent(follower, signal);
          continue;
        }
        if (batch.previous > cursor && batch.entries.some((entry) => entry.sequence > cursor)) {
          // Something before this batch was missed; the log has both.
          follower.stale = true;
          continue;
        }
        const fresh = batch.entries.filter((entry) => entry.sequence > cursor);
        if (fresh.length === 0) continue;
        cursor = fresh[fresh.length - 1]?.sequence ?? cursor;
        const whole = log.resolve(sessionId, fresh);
        yield whole instanceof Promise ? await whole : whole;
      }
    } catch (error) {
      // Whoever left does not ask what went wrong meanwhile.
      if (!hasLeft(signal)) throw error;
    } finally {
      signal.removeEventListener('abort', abort);
      leave();
    }

    async function* pagesAfter(from: number): AsyncGenerator<LogEntry[]> {
      let at = from;
      for (;;) {
        const page = await readThroughOutage(
          () => log.read(sessionId, at, LIMITS.replayPage),
          signal,
        );
        if (page.length > 0) yield page;
        if (page.length < LIMITS.replayPage) return;
        at = page[page.length - 1]?.sequence ?? at;
      }
    }
  }

  return { follow };
}

/** Read through a function, since a signal may fire during any wait. */
function hasLeft(signal: AbortSignal): boolean {
  return signal.aborted;
}

function parseBatch(message: string): Batch {
  const [previous, entries] = JSON.parse(message) as [number, [number, string, StreamMessage][]];
  return {
    previous,
    entries: entries.map(([sequence, writer, chunk]) => ({ sequence, writer, message: chunk })),
  };
}

function offer(follower: Follower, batch: Batch): void {
  if (follower.queue.length >= MAX_QUEUED_BATCHES) {
    follower.queue.length = 0;
    follower.stale = true;
  } else {
    follower.queue.push(batch);
  }
  follower.wake?.();
}

function markStale(follower: Follower): void {
  follower.stale = true;
  follower.wake?.();
}

/** The signal may fire during any wait, which the compiler does not see. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

/** Resolves when there is something to look at: a batch, a stop, or the time for an idle check. */
function nextEvent(follower: Follower, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      follower.stale = true;
      done();
    }, IDLE_CHECK_MS);
    const done = (): void => {
      clearTimeout(timer);
      follower.wake = undefined;
      resolve();
    };
    follower.wake = done;
    if (signal.aborted || follower.stale || follower.queue.length > 0) done();
  });
}

/** Reads again, with back-off, while Redis is away; throws the last error when it stays away. */
async function readThroughOutage<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const giveUpAt = Date.now() + OUTAGE_MS;
  for (let delay = 50; ; delay = Math.min(delay * 2, 1_000)) {
    try {
      return await read();
    } catch (error) {
      if (signal.aborted || Date.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}
