import type { LogEntry } from '../../../protocol/chunk.js';
import { rootOf } from '../../../protocol/ids.js';
import { retryWhileUnavailable } from '../../record/outage.js';
import { parseBatch, type Batch } from './batch.js';
import { createChannels, watchSubscriptions, type Subscriber } from './channels.js';
import { createCursor } from './cursor.js';
import { createInbox, type Inbox } from './inbox.js';
import { createReadPage, shareReads, type ReadLog } from './pages.js';

/** Interval at which an idle follower reads the log: a publication may be lost, a log entry is not. */
const IDLE_CHECK_MS = 4_000;

export interface TailedLog {
  channelOf: (streamId: string) => string;
  read: ReadLog;
  /** Restores the large results of published entries. */
  resolve: (streamId: string, entries: LogEntry[]) => LogEntry[] | Promise<LogEntry[]>;
}

/**
 * Follows logs: subscribe, then read the log from the cursor, then go live. The log is the truth;
 * the channel only saves reads. Each published message is parsed once for all followers, and a page
 * that several followers want at once is read once.
 */
export function createTail(
  subscriber: Subscriber,
  log: TailedLog,
  options: { outageMs?: number } = {},
) {
  const channels = createChannels<Inbox>(subscriber, (inboxes, text) => {
    if (!isContinuous()) return;
    let batch: Batch | undefined;
    for (const inbox of inboxes) {
      batch ??= parseBatch(text, inbox.conversationId);
      if (batch === undefined) inbox.miss();
      else inbox.offer(batch);
    }
  });
  const isContinuous = watchSubscriptions(subscriber, channels.names, () => {
    for (const inbox of channels.all()) inbox.miss();
  });
  const readPage = shareReads(createReadPage(log.read));

  const resolving = new WeakMap<Batch, Promise<LogEntry[]>>();

  /** Fetches large results once for all followers that read a batch at the same time. */
  function resolve(streamId: string, batch: Batch): LogEntry[] | Promise<LogEntry[]> {
    if (batch.mayRefer === false) return batch.entries;
    const known = resolving.get(batch);
    if (known !== undefined) return known;
    const entries = log.resolve(streamId, batch.entries);
    if (!(entries instanceof Promise)) return entries;
    resolving.set(batch, entries);
    const end = (): boolean => resolving.delete(batch);
    entries.then(end, end);
    return entries;
  }

  /** Entries after a sequence, first from the log and then live, in order, each once. */
  async function* follow(
    streamId: string,
    fromSequence: number,
    signal: AbortSignal,
  ): AsyncGenerator<LogEntry[]> {
    const cursor = createCursor(fromSequence);
    const inbox = createInbox(rootOf(streamId));
    const membership = channels.enter(log.channelOf(streamId), inbox);
    signal.addEventListener('abort', inbox.wake);
    try {
      await retryWhileUnavailable(membership.ready, signal, options.outageMs);
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
        if (cursor.isGapBefore(batch)) {
          // Changes write before they publish, so the log contains this batch as well.
          inbox.removeFirst();
          yield* catchUp();
          continue;
        }
        const found = resolve(streamId, batch);
        const entries = found instanceof Promise ? await found.catch(() => undefined) : found;
        if (entries === undefined) inbox.miss();
        if (entries === undefined || inbox.first() !== batch) continue;
        inbox.removeFirst();
        const fresh = cursor.takeBatch(entries);
        if (fresh.length > 0) yield fresh;
      }
    } catch (error) {
      // Errors after the follower left are irrelevant.
      if (!hasLeft(signal)) throw error;
    } finally {
      signal.removeEventListener('abort', inbox.wake);
      membership.leave();
    }

    async function* catchUp(): AsyncGenerator<LogEntry[]> {
      for (;;) {
        const page = await retryWhileUnavailable(
          () => readPage(streamId, cursor.anchor()),
          signal,
          options.outageMs,
        );
        const fresh = cursor.takePage(page);
        if (fresh.length > 0) yield fresh;
        if (!page.isFull || hasLeft(signal)) return;
      }
    }
  }

  return { follow };
}

/** Returns true once the follower left. A function, since the signal may fire during any wait. */
function hasLeft(signal: AbortSignal): boolean {
  return signal.aborted;
}
