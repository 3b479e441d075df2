import type { Row } from '../../protocol/rows.js';
import type { SessionRecord as StoredRecord } from '../../session/record.js';
import type { OpenCall } from '../contract/call-record.js';
import type { ReadMeter } from '../contract/log.js';
import type { RedisContext } from './context.js';
import { resolveRows, type ReadResults } from './large-results.js';
import { parseRow } from '../record/stored-json.js';

/** Rows of the first page, when their size is unknown; later pages aim at PAGE_BYTES. */
const FIRST_ROWS = 4;
const MOST_ROWS = 500;
const PAGE_BYTES = 256 * 1024;
/** Results read at once; each has more than `inlineResultBytes`. */
const RESULTS_AT_ONCE = 4;

/** Reads large results, few at once. */
export function createReadResults({
  reads,
  keys,
}: Pick<RedisContext, 'reads' | 'keys'>): (sessionId: string, meter?: ReadMeter) => ReadResults {
  return (sessionId, meter) => async (ids) => {
    const found: (string | null)[] = [];
    for (let at = 0; at < ids.length; at += RESULTS_AT_ONCE) {
      const some = ids.slice(at, at + RESULTS_AT_ONCE);
      const results = await reads.hmget(keys.session(sessionId).results, ...some);
      found.push(...results);
      await meter?.take(sizeOf(results));
    }
    return found;
  };
}

export function createStoredRows({ reads: redis, keys }: Pick<RedisContext, 'reads' | 'keys'>) {
  const readResults = createReadResults({ reads: redis, keys });
  /** Parses stored rows and restores their large results. */
  const toRows = (sessionId: string, rows: string[], meter?: ReadMeter): Promise<Row[]> =>
    resolveRows(
      rows.map((row, at) => parseRow(row, `row ${String(at)}`)),
      readResults(sessionId, meter),
    );
  return {
    toRows,
    /**
     * Reads rows page by page, since a large read holds up everything else in Redis. Rows never change, so the pages
     * equal one read unless the session is rewound or erased meanwhile.
     *
     * @returns undefined in that case
     */
    readPages: async (
      sessionId: string,
      { from, to = Infinity, born }: { from: number; to?: number | undefined; born?: string },
      meter?: ReadMeter,
    ): Promise<Row[] | undefined> => {
      const { root, rows } = keys.session(sessionId);
      const found: Row[] = [];
      let first = born;
      let count = FIRST_ROWS;
      for (let at = from; at < to;) {
        const end = Math.min(at + count, to);
        const [page, [record]] = (await redis.together(
          ['lrange', rows, at, end - 1],
          ['hmget', root, 'record'],
        )) as [string[], [string | null]];
        const now = record == null ? '' : (JSON.parse(record) as StoredRecord).born;
        first ??= now;
        if (first !== now) return undefined;
        const bytes = sizeOf(page);
        await meter?.take(bytes);
        found.push(...(await toRows(sessionId, page, meter)));
        if (page.length < end - at) break;
        at = end;
        const fitting = Math.floor((PAGE_BYTES * page.length) / Math.max(1, bytes));
        count = Math.min(Math.max(1, fitting), MOST_ROWS);
      }
      return found;
    },
    /** Restores the large results of calls whose rows are not in the transcript yet. */
    withResults: (sessionId: string, calls: OpenCall[]): Promise<OpenCall[]> =>
      Promise.all(
        calls.map(async (call) => {
          if (call.row === undefined) return call;
          const [row = call.row] = await resolveRows([call.row], readResults(sessionId));
          return { ...call, row };
        }),
      ),
  };
}

/** Returns the size that a meter counts. */
export function sizeOf(texts: readonly (string | null)[]): number {
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}
