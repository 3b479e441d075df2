import type { LogEntry } from '../../protocol/chunk.js';
import { parseBatch, type Batch } from './batches.js';
import { createChannels } from './channels.js';
import type { Subscriber } from './subscriber.js';
import { watchHearing } from './hearing.js';
import { createInbox, type Inbox } from './inbox.js';
import { createReadPage } from './log-pages.js';
import { throughOutage } from '../record/outage.js';
import { createPlace } from './place.js';
import type { ReadLog } from './read-log.js';
import { shareReads } from './shared-reads.js';

/** A quiet follower looks into the log this often: a publish may be lost, the log is not. */
const IDLE_CHECK_MS = 4_000;

/** The log that a tail keeps to. */
export interface TailedLog {
  channelOf: (streamId: string) => string;
  read: ReadLog;
  /** Puts what is kept apart back into published entries. */
  resolve: (streamId: string, entries: LogEntry[]) => LogEntry[] | Promise<LogEntry[]>;
}

export interface Tail {
  /** Entries after a sequence, first from the log and then live, in order, each once. */
  follow: (
    streamId: string,
    fromSequence: number,
    signal: AbortSignal,
  ) => AsyncGenerator<LogEntry[]>;
}

/**
 * Follows logs: subscribe, then read the log from the cursor, then go live. The log is the truth;
 * the channel only saves the read. Each published message is parsed once for all followers, and a
 * page that several want at once is read once.
 */
export function createTail(
  subscriber: Subscriber,
  log: TailedLog,
  options: { outageMs?: number } = {},
): Tail {
  const channels = createChannels<Inbox>(subscriber, (inboxes, text) => {
    if (!hearing.isContinuous()) return;
    const batch = parseBatch(text);
    for (const inbox of inboxes) {
      if (batch === undefined) inbox.miss();
      else inbox.offer(batch);
    }
  });
  const hearing = watchHearing(subscriber, channels.names, () => {
    for (const inbox of channels.all()) inbox.miss();
  });
  const readPage = shareReads(createReadPage(log.read));

  const resolving = new WeakMap<Batch, Promise<LogEntry[]>>();

  /** Large results are fetched once for all followers who take a batch at the same time. */
  function resolve(streamId: string, batch: Batch): LogEntry[] | Promise<LogEntry[]> {
    const known = resolving.get(batch);
    if (known !== undefined) return known;
    const entries = log.resolve(streamId, batch.entries);
    if (!(entries instanceof Promise)) return entries;
    resolving.set(batch, entries);
    const end = (): boolean => resolving.delete(batch);
    entries.then(end, end);
    return entries;
  }

  async function* follow(
    streamId: string,
    fromSequence: number,
    signal: AbortSignal,
  ): AsyncGenerator<LogEntry[]> {
    const place = createPlace(fromSequence);
    const inbox = createInbox();
    const membership = channels.enter(log.channelOf(streamId), inbox);
    signal.addEventListener('abort', inbox.wake);
    try {
      await throughOutage(membership.ready, signal, options.outageMs);
      while (!hasLeft(signal)) {
        if (inbox.takeMiss()) {
          yield* catchUp();
          continue;
        }
        const batch = inbox.first();
        if (batch === undefined) {
          if ((await inbox.wait(IDLE_CHECK_MS)) === 'idle') inbox.miss();
          continue;
        }
        if (place.isGapBefore(batch)) {
          // Scripts write before they publish, so that the log has this batch as well.
          inbox.removeFirst();
          yield* catchUp();
          continue;
        }
        const resolving = resolve(streamId, batch);
        const entries =
          resolving instanceof Promise ? await resolving.catch(() => undefined) : resolving;
        if (entries === undefined) inbox.miss();
        if (entries === undefined || inbox.first() !== batch) continue;
        inbox.removeFirst();
        const fresh = place.takeBatch(entries);
        if (fresh.length > 0) yield fresh;
      }
    } catch (error) {
      // Whoever left does not ask what went wrong meanwhile.
      if (!hasLeft(signal)) throw error;
    } finally {
      signal.removeEventListener('abort', inbox.wake);
      membership.leave();
    }

    async function* catchUp(): AsyncGenerator<LogEntry[]> {
      for (;;) {
        const page = await throughOutage(
          () => readPage(streamId, place.anchor()),
          signal,
          options.outageMs,
        );
        const fresh = place.takePage(page);
        if (fresh.length > 0) yield fresh;
        if (!page.isFull || hasLeft(signal)) return;
      }
    }
  }

  return { follow };
}

/** Read through a function, since a signal may fire during any wait. */
function hasLeft(signal: AbortSignal): boolean {
  return signal.aborted;
}
