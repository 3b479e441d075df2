import { rootOf } from '../../../protocol/ids.js';
import { mergeDeltas } from '../../../protocol/merge-deltas.js';
import type { KeptPage } from '../../contract/log.js';
import type { RedisContext } from '../context.js';
import { callRedis } from '../errors.js';
import type { StreamEntry } from './joined-deltas.js';
import { toLogEntry } from './pages.js';

/** Pages that one read brings: few, since they are parsed in one go, and kept until a slow viewer has them. */
const MOST = 8;

/** Reads kept pages, and takes those whose first and last entries the log still has. */
export function createReadKept({
  redis,
  keys,
}: Pick<RedisContext, 'redis' | 'keys'>): (
  streamId: string,
  fromSequence: number,
) => Promise<KeptPage[]> {
  return async (streamId, fromSequence) => {
    const conversationId = rootOf(streamId);
    const { joined, stream } = keys.session(conversationId);
    const after = `(${String(fromSequence)}-0`;
    const stored = await callRedis(redis.xrange(joined, after, '+', 'COUNT', MOST));
    const pages = inOrder(
      stored.map((page) => parsePage(page, conversationId)),
      fromSequence,
    );
    if (pages.length === 0) return [];
    const ends = pages.flatMap(({ from, to }) => [`${String(from)}-0`, `${String(to)}-0`]);
    const found = (await callRedis(
      redis.together((reads) => {
        for (const id of ends) reads.xrange(stream, id, id, 'COUNT', 1);
      }),
    )) as StreamEntry[][];
    return pages.filter((_, at) => found[2 * at]?.length === 1 && found[2 * at + 1]?.length === 1);
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

/** Undefined for what this release did not write: the log has the same entries. */
function parsePage([id, fields]: StreamEntry, conversationId: string): KeptPage | undefined {
  const [, from = '', , json = ''] = fields;
  try {
    const entries = (JSON.parse(json) as StreamEntry[]).map((entry) =>
      toLogEntry(entry, conversationId),
    );
    return {
      from: Number.parseInt(from, 10),
      to: Number.parseInt(id, 10),
      entries: mergeDeltas(entries),
    };
  } catch {
    return undefined;
  }
}
