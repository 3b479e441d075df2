import type { LogEntry } from '../../protocol/chunk.js';
import type { KeptPage } from '../../store/contract/log.js';
import type { StreamManager } from '../../store/log/stream-manager.js';

/**
 * Many viewers may join at once, as after a deploy; for this long they share what one of them has
 * read. A longer time would give more of them an attempt that was withdrawn in the meantime, and each of
 * those is cut.
 */
const SHARED_MS = 100;

type PageReader = Pick<StreamManager, 'read'> & Partial<Pick<StreamManager, 'keptPages'>>;

/**
 * Entries of a page, and pages that are under way: enough to keep store and reader busy, too few to delay
 * live readers. Both at most are decoded in about 2 ms.
 */
const PAGE = 500;
const IN_FLIGHT = 2;

/**
 * The entries after `from` up to and including `upTo`, which all exist, in pages with adjacent
 * deltas merged. Pages that the log keeps in that form are taken as they are.
 */
export async function* replayRange(
  reader: PageReader,
  sessionId: string,
  from: number,
  upTo: number,
): AsyncGenerator<LogEntry[], void, undefined> {
  const pages: Promise<LogEntry[]>[] = [];
  let kept = await keptPages(reader, sessionId, from, upTo);
  let cursor = from;
  for (;;) {
    while (pages.length < IN_FLIGHT && cursor < upTo) {
      const [next] = kept;
      if (next?.from === cursor + 1) {
        pages.push(Promise.resolve(next.entries));
        cursor = next.to;
        kept = kept.length > 1 ? kept.slice(1) : await keptPages(reader, sessionId, cursor, upTo);
        continue;
      }
      const end = Math.min(cursor + PAGE, upTo, (next?.from ?? Infinity) - 1);
      pages.push(readPage(reader, sessionId, cursor, end));
      cursor = end;
    }
    const page = await pages.shift();
    if (page === undefined) return;
    if (page.length > 0) yield page;
    // Pages that came together are not sent together: live readers get their turn in between.
    if (pages.length > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Kept pages that lie in the range as a whole; a short range is not worth the question. */
async function keptPages(
  reader: PageReader,
  sessionId: string,
  from: number,
  upTo: number,
): Promise<KeptPage[]> {
  const { keptPages: readKept } = reader;
  if (readKept === undefined || upTo - from < PAGE) return [];
  const pages = await shareKept(reader, `${sessionId} ${String(from)}`, () =>
    readKept(sessionId, from),
  );
  return pages.filter(({ to }) => to <= upTo);
}

/**
 * A page is read when all of it exists, and an entry that withdraws others comes after its end: a
 * reader that continues behind a shared page gets it.
 */
function readPage(
  reader: PageReader,
  sessionId: string,
  from: number,
  to: number,
): Promise<LogEntry[]> {
  return sharePages(reader, `${sessionId} ${String(from)} ${String(to)}`, async () => {
    const entries = await reader.read(sessionId, from, to - from, to);
    return entries.filter(({ sequence }) => sequence <= to);
  });
}

const sharePages = createSharedReads<LogEntry[]>();
const shareKept = createSharedReads<KeptPage[]>();

/** Reads that viewers share, by what is read and where. */
function createSharedReads<Value>(): (
  reader: object,
  key: string,
  read: () => Promise<Value>,
) => Promise<Value> {
  const readsOf = new WeakMap<object, Map<string, Promise<Value>>>();
  return (reader, key, read) => {
    const reads = readsOf.get(reader) ?? new Map<string, Promise<Value>>();
    readsOf.set(reader, reads);
    const known = reads.get(key);
    if (known !== undefined) return known;
    const value = read();
    reads.set(key, value);
    const forget = (): boolean => reads.delete(key);
    // A reader that left ignores failures of the reads that it had requested.
    value.then(() => setTimeout(forget, SHARED_MS).unref(), forget);
    return value;
  };
}
