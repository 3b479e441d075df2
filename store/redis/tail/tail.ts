import type { LogEntry } from '../../../protocol/chunk.js';
import { HelixError } from '../../../protocol/errors.js';
import { rootOf } from '../../../protocol/ids.js';
import { toMessage } from '../entries.js';
import { retryWhileUnavailable } from '../../record/outage.js';
import { createChannels, watchSubscriptions, type Subscriber } from './channels.js';
import { createReadPage, shareReads, type LogPage, type ReadLog } from './pages.js';

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
        const resolving = resolve(streamId, batch);
        const entries =
          resolving instanceof Promise ? await resolving.catch(() => undefined) : resolving;
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

/** Published entries, and the sequence before them. */
export interface Batch {
  previous: number;
  entries: LogEntry[];
  /** Length of the published text. */
  size: number;
  /** False for short deltas, which refer to no separately stored result. */
  mayRefer?: boolean;
}

/** Parses a published message; undefined if it was published by another program or truncated. */
export function parseBatch(text: string, conversationId: string): Batch | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const [previous, published] = parsed as unknown[];
  if (!isSequence(previous) || !Array.isArray(published) || published.length === 0) {
    return undefined;
  }
  const entries: LogEntry[] = [];
  let before = previous;
  let mayRefer = false;
  for (const item of published as unknown[]) {
    const entry = toEntry(item, conversationId);
    if (entry === undefined || entry.sequence <= before) return undefined;
    before = entry.sequence;
    mayRefer ||= !Array.isArray((item as unknown[])[2]);
    entries.push(entry);
  }
  return { previous, entries, size: text.length, mayRefer };
}

function toEntry(item: unknown, conversationId: string): LogEntry | undefined {
  if (!Array.isArray(item)) return undefined;
  const [sequence, writer, stored] = item as unknown[];
  if (!isSequence(sequence) || typeof writer !== 'string') return undefined;
  const message = toMessage(stored, conversationId);
  return message && { sequence, writer, message };
}

function isSequence(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Limits for a slow follower; beyond either, it reads the log again. */
const MAX_BATCHES = 256;
const MAX_SIZE = 1024 * 1024;

type Inbox = ReturnType<typeof createInbox>;

/** Creates the queue of a conversation's published batches that a follower has not read yet. Bounded. */
export function createInbox(conversationId: string) {
  let batches: Batch[] = [];
  let size = 0;
  let hasMissed = true;
  let onEvent: (() => void) | undefined;

  const wake = (): void => onEvent?.();
  /** Some batches are missing: drops all of them, so that the follower reads the log. */
  const miss = (): void => {
    batches = [];
    size = 0;
    hasMissed = true;
    wake();
  };
  return {
    conversationId,
    offer: (batch: Batch) => {
      // The follower is about to read the log, which contains this batch.
      if (hasMissed) return;
      if (batches.length >= MAX_BATCHES || size + batch.size > MAX_SIZE) {
        miss();
        return;
      }
      batches.push(batch);
      size += batch.size;
      wake();
    },
    miss,
    /** Returns true once after a miss, and initially. Batches offered from now on are kept. */
    takeMiss: (): boolean => {
      const had = hasMissed;
      hasMissed = false;
      return had;
    },
    first: (): Batch | undefined => batches[0],
    removeFirst: () => {
      size -= batches.shift()?.size ?? 0;
    },
    wake,
    /** Resolves at the next offer, miss or wake, or after a time; at once if a batch or miss is pending. */
    wait: (ms: number): Promise<'woken' | 'idle'> =>
      new Promise((resolve) => {
        const end = (outcome: 'woken' | 'idle'): void => {
          clearTimeout(timer);
          onEvent = undefined;
          resolve(outcome);
        };
        const timer = setTimeout(end, ms, 'idle');
        onEvent = () => {
          end('woken');
        };
        if (hasMissed || batches.length > 0) end('woken');
      }),
  };
}

export type Cursor = ReturnType<typeof createCursor>;

/** Creates a follower's position in a log, with the facts that reveal a rewound log. */
export function createCursor(fromSequence: number) {
  /** All entries up to this sequence are known, including withdrawn ones. */
  let known = fromSequence;
  let last: LogEntry | undefined;
  let server: string | undefined;

  function advance(fresh: LogEntry[]): LogEntry[] {
    last = fresh[fresh.length - 1] ?? last;
    known = Math.max(known, last?.sequence ?? 0);
    return fresh;
  }

  /** A log restored from a backup is shorter, or has other entries under the same numbers. */
  function refuseRewound(page: LogPage, fresh: LogEntry[]): void {
    if (page.sequence < known) throw rewound();
    if (last === undefined) return;
    const [again] = page.entries;
    if (again?.sequence === last.sequence) {
      if (!isSame(again, last)) throw rewound();
    } else if (server !== undefined && server !== page.server && fresh.length > 0) {
      // On the same server, a missing entry was withdrawn or trimmed, which is fine.
      throw rewound();
    }
  }

  return {
    /** Returns the sequence from which reading continues; its entry is read again and compared. */
    anchor: (): number => last?.sequence ?? known,
    /** Returns the new entries of a page. @throws HelixError `rewound` */
    takePage: (page: LogPage): LogEntry[] => {
      const fresh = page.entries.filter(({ sequence }) => sequence > known);
      refuseRewound(page, fresh);
      const [first] = page.entries;
      if (last === undefined && first?.sequence === known) last = first;
      if (last === undefined || first !== undefined) server = page.server;
      advance(fresh);
      if (!page.isFull) known = Math.max(known, page.sequence);
      return fresh;
    },
    /** Returns true if entries before this batch were missed. */
    isGapBefore: ({ previous }: Batch): boolean => previous > known,
    /** Returns the new entries of a batch. */
    takeBatch: (entries: LogEntry[]) => advance(entries.filter(({ sequence }) => sequence > known)),
  };
}

function rewound(): HelixError {
  return new HelixError('rewound', 'The conversation store is older than what was already read.');
}

function isSame(one: LogEntry, other: LogEntry): boolean {
  if (one === other) return true;
  if (one.writer !== other.writer) return false;
  return JSON.stringify(one.message) === JSON.stringify(other.message);
}
