import type { LogEntry } from '../../../protocol/chunk.js';
import { rootOf } from '../../../protocol/ids.js';
import { mergeDeltas } from '../../../protocol/combine-streams.js';
import { tryParseJson } from '../../../protocol/limits.js';
import { keepPage } from '../../../session/streams.js';
import type { StreamEntry } from '../entries.js';
import type { KeptPage, Writer } from '../../contract/log.js';
import type { Read } from '../commands.js';
import type { RedisContext } from '../context.js';
import { createReadRange } from './pages.js';

/** A page ends at each multiple of this sequence that a writer reaches. */
export const PAGE_END = 500;
/** A page has at least MIN_ENTRIES entries, of which at most one in GAIN remains after deltas are joined. */
const MIN_ENTRIES = 250;
const GAIN = 10;
/** Longer pages are not kept, characters of JSON. */
const MAX_CHARS = 256 * 1024;
/** Maximum number of pages per read, since they are parsed at once and kept until a slow viewer has them. */
const MAX_PAGES = 8;

/**
 * Keeps pages of the running step in replay form, so viewers who join later need not read each delta: a turn of 10,000
 * takes a sixth of the time, and ten such turns at once a fifteenth. A missing page only costs those viewers time.
 */
export function createKeptPages({
  redis,
  reads,
  keys,
  change,
}: Pick<RedisContext, 'redis' | 'reads' | 'keys' | 'change'>) {
  const readRange = createReadRange({ redis: reads, keys });
  return {
    /** Keeps the writer's uninterrupted entries up to a sequence as a page. */
    keep: async ({ sessionId, runId, name, token }: Writer, upTo: number): Promise<unknown> => {
      const streamId = rootOf(sessionId);
      const all = await readRange(streamId, upTo - PAGE_END, PAGE_END, upTo);
      const own = all.slice(all.findLastIndex((entry) => entry.writer !== name) + 1);
      const [from = 0, to = 0] = [own[0]?.sequence, own.at(-1)?.sequence];
      const joined = mergeDeltas(own);
      const entries = JSON.stringify(joined);
      if (own.length < MIN_ENTRIES || joined.length * GAIN > own.length) return undefined;
      if (entries.length > MAX_CHARS) return undefined;
      const page = { writer: { runId, name, token }, from, to, entries };
      return change(sessionId, keepPage, page);
    },
    /** Reads pages after a sequence whose first and last entries are still in the log. */
    read: async (streamId: string, fromSequence: number): Promise<KeptPage[]> => {
      const { joined, stream } = keys.session(rootOf(streamId));
      const after = `(${String(fromSequence)}-0`;
      const stored = await redis.xrange(joined, after, '+', 'COUNT', MAX_PAGES);
      const pages = inOrder(stored.map(parsePage), fromSequence);
      if (pages.length === 0) return [];
      const ends = pages.flatMap(({ from, to }) => [`${String(from)}-0`, `${String(to)}-0`]);
      const found = (await redis.together(
        ...ends.map((id): Read => ['xrange', stream, id, id, 'COUNT', 1]),
      )) as StreamEntry[][];
      return pages.filter(
        (_, at) => found[2 * at]?.length === 1 && found[2 * at + 1]?.length === 1,
      );
    },
  };
}

/** Returns pages that begin after the sequence and after the previous page. */
function inOrder(stored: (KeptPage | undefined)[], fromSequence: number): KeptPage[] {
  let last = fromSequence;
  return stored.flatMap((page) => {
    if (page === undefined || page.from <= last) return [];
    last = page.to;
    return page;
  });
}

/** Returns undefined for an unreadable page, whose entries are in the log too. */
function parsePage([id, [, from = '', , json = '']]: StreamEntry): KeptPage | undefined {
  const entries = tryParseJson(json) as LogEntry[] | undefined;
  if (!Array.isArray(entries)) return undefined;
  return { from: Number.parseInt(from, 10), to: Number.parseInt(id, 10), entries };
}
