import type { LogEntry } from '../../protocol/chunk.js';
import type { KeptPage } from '../../store/contract/log.js';
import type { StreamManager } from '../../store/log/stream-manager.js';

/**
 * Duration for which viewers share read pages, ms: many join at once after a deploy. A longer time
 * would give more of them an attempt withdrawn meanwhile, for which they are cut.
 */
const SHARED_MS = 100;

type PageReader = Pick<StreamManager, 'read'> & Partial<Pick<StreamManager, 'keptPages'>>;

/** Entries per page, and pages read ahead; live readers wait about 2 ms for their decoding. */
const PAGE = 500;
const IN_FLIGHT = 2;

/**
 * Yields the entries after `from` up to and including `upTo`, all of which exist, in pages with
 * adjacent deltas merged. Pages that the log keeps in that form are used as they are.
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
    // Pages that arrived together are not sent together, so that live readers get their turn.
    if (pages.length > 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Returns the kept pages that lie wholly in the range; a short range is not worth the request. */
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

/** Reads a page for several viewers; each finds entries that withdraw some of it after its end. */
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

/** Makes a function that shares reads among viewers, by reader and key. */
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
    // A viewer that has left does not handle failures of reads it requested.
    value.then(() => setTimeout(forget, SHARED_MS).unref(), forget);
    return value;
  };
}
