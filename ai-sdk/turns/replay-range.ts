import type { LogEntry } from '../../protocol/chunk.js';
import type { StreamManager } from '../../stores/log/stream-manager.js';

type PageReader = Pick<StreamManager, 'read'>;

/**
 * Entries of a page, and pages that are under way: enough to keep store and reader busy, too few to delay
 * live readers. Both at most are decoded in about 2 ms.
 */
const PAGE = 500;
const IN_FLIGHT = 2;

/**
 * The entries after `from` up to and including `upTo`, which all exist, in pages with adjacent
 * deltas merged.
 */
export async function* replayRange(
  reader: PageReader,
  sessionId: string,
  from: number,
  upTo: number,
): AsyncGenerator<LogEntry[], void, undefined> {
  const pages: Promise<LogEntry[]>[] = [];
  let cursor = from;
  for (;;) {
    while (pages.length < IN_FLIGHT && cursor < upTo) {
      const end = Math.min(cursor + PAGE, upTo);
      pages.push(readShared(reader, sessionId, cursor, end));
      cursor = end;
    }
    const page = await pages.shift();
    if (page === undefined) return;
    if (page.length > 0) yield page;
    // Pages that came together are not sent together: live readers get their turn in between.
    if (pages.length > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * Many viewers may join at once, as after a deploy; for this long they share the pages that one of
 * them has read. A longer time would give more of them an attempt that was withdrawn in the meantime,
 * and each of those is cut.
 */
const SHARED_MS = 100;

const pagesOf = new WeakMap<PageReader, Map<string, Promise<LogEntry[]>>>();

/**
 * A page is read when all of it exists, and an entry that withdraws others comes after its end: a
 * reader that continues behind a shared page gets it.
 */
function readShared(
  reader: PageReader,
  sessionId: string,
  from: number,
  to: number,
): Promise<LogEntry[]> {
  const pages = pagesOf.get(reader) ?? new Map<string, Promise<LogEntry[]>>();
  pagesOf.set(reader, pages);
  const key = `${sessionId} ${String(from)} ${String(to)}`;
  const known = pages.get(key);
  if (known !== undefined) return known;
  const page = reader
    .read(sessionId, from, to - from, to)
    .then((entries) => entries.filter(({ sequence }) => sequence <= to));
  pages.set(key, page);
  const forget = (): boolean => pages.delete(key);
  // A reader that left ignores failures of the pages that it had requested.
  page.then(() => setTimeout(forget, SHARED_MS).unref(), forget);
  return page;
}
