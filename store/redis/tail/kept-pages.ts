import type { LogEntry } from '../../../protocol/chunk.js';
import { rootOf } from '../../../protocol/ids.js';
import { mergeDeltas } from '../../../protocol/combine-streams.js';
import { keepPage } from '../../../session/streams.js';
import type { StreamEntry } from '../entries.js';
import type { KeptPage, Writer } from '../../contract/log.js';
import type { Read } from '../commands.js';
import type { RedisContext } from '../context.js';
import { createReadRange } from './pages.js';

/** A page ends wherever a writer reaches a multiple of this sequence. */
export const PAGE_END = 500;
/** Pages have at least so many entries, and at most a tenth of them once their deltas are joined. */
const LEAST = 250;
const GAIN = 10;
/** Longer ones are not kept, in characters of JSON. */
const LONGEST = 256 * 1024;
/** Pages that one read brings: few, since they are parsed in one go, and kept until a slow viewer has them. */
const MOST = 8;

/**
 * Pages of the running step as a replay sends them, so that viewers who join later need not read each delta: a
 * turn of 10,000 takes a sixth of the time, and ten such turns at once a fifteenth. They are kept beside the appends,
 * and one that is not kept costs those viewers time and nothing else.
 */
export function createKeptPages({
  redis,
  reads,
  keys,
  change,
}: Pick<RedisContext, 'redis' | 'reads' | 'keys' | 'change'>) {
  const readRange = createReadRange({ redis: reads, keys });
  return {
    /** Keeps what the writer has appended up to a sequence without others in between. */
    keep: async ({ sessionId, runId, name, token }: Writer, upTo: number): Promise<unknown> => {
      const streamId = rootOf(sessionId);
      const all = await readRange(streamId, upTo - PAGE_END, upTo, PAGE_END);
      const own = all.slice(all.findLastIndex((entry) => entry.writer !== name) + 1);
      const [from = 0, to = 0] = [own[0]?.sequence, own.at(-1)?.sequence];
      const joined = mergeDeltas(own);
      const entries = JSON.stringify(joined);
      if (own.length < LEAST || joined.length * GAIN > own.length) return undefined;
      if (entries.length > LONGEST) return undefined;
      const page = { writer: { runId, name, token }, from, to, entries };
      return change(sessionId, keepPage, page, { mayGrow: true });
    },
    /** Pages behind a sequence whose first and last entries the log still has. */
    read: async (streamId: string, fromSequence: number): Promise<KeptPage[]> => {
      const { joined, stream } = keys.session(rootOf(streamId));
      const after = `(${String(fromSequence)}-0`;
      const stored = await redis.xrange(joined, after, '+', 'COUNT', MOST);
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

/** Those that begin behind the sequence and behind the page before them. */
function inOrder(stored: (KeptPage | undefined)[], fromSequence: number): KeptPage[] {
  const pages: KeptPage[] = [];
  let last = fromSequence;
  for (const page of stored) {
    if (page === undefined || page.from <= last) continue;
    pages.push(page);
    last = page.to;
  }
  return pages;
}

/** Undefined for what cannot be read: the log has the same entries. */
function parsePage([id, [, from = '', , json = '']]: StreamEntry): KeptPage | undefined {
  try {
    const entries = JSON.parse(json) as LogEntry[];
    return { from: Number.parseInt(from, 10), to: Number.parseInt(id, 10), entries };
  } catch {
    return undefined;
  }
}
