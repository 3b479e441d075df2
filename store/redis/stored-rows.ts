import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AssistantRow, Row, ToolRow } from '../../protocol/rows.js';
import type { SessionRecord as StoredRecord } from '../../session/record.js';
import { RESULT_LOST } from '../../session/settling.js';
import type { OpenCall } from '../contract/call-record.js';
import type { ReadMeter } from '../contract/log.js';
import { parseRow, toStoredJson } from '../record/stored-json.js';
import type { RedisContext } from './context.js';

/**
 * Results above LIMITS.inlineResultBytes are stored once, and row and chunk refer to them. The log stays fast to read.
 */

/** A tool row whose output is stored separately. */
type StoredToolRow = Omit<ToolRow, 'output'> & { outputRef: string };

/** An assistant row whose output (the run's result) is stored separately. */
type StoredReply = Omit<AssistantRow, 'output'> & { outputRef: string };

/** Removes a large output from a call's row and chunk. `output` is its JSON. */
export function keepApart<Given extends ToolRow | undefined>(row: Given, chunks: StreamMessage[]) {
  if (row?.output === undefined) return { row, chunks };
  const json = toStoredJson(row.output);
  if (Buffer.byteLength(json) <= LIMITS.inlineResultBytes) return { row, chunks };
  const stored = { ...row, outputRef: row.toolCallId };
  delete stored.output;
  return {
    row: stored,
    chunks: chunks.map((chunk) =>
      chunk.type === 'tool_end' && chunk.toolCallId === row.toolCallId
        ? { ...chunk, result: null, resultRef: row.toolCallId }
        : chunk,
    ),
    output: json,
  };
}

/** Reads results by call id; null for a missing one. */
export type ReadResults = (ids: string[]) => Promise<(string | null)[]>;

/** Restores large results in log entries. Costs nothing without such results. */
export function resolveEntries(entries: LogEntry[], read: ReadResults) {
  const messages = entries.map(({ message }) => message);
  const resolved = resolve(messages, ({ type }) => FIELDS[type], read);
  if (Array.isArray(resolved)) return entries;
  return resolved.then((found) =>
    entries.map((entry, at) => ({ ...entry, message: found[at] ?? entry.message })),
  );
}

async function resolveRows(rows: (Row | StoredToolRow | StoredReply)[], read: ReadResults) {
  return resolve(rows, () => 'output', read);
}

/** The field that may be stored separately, by type. The same name with `Ref` refers to it. */
const FIELDS: Record<string, string | undefined> = {
  tool_end: 'result',
  output: 'output',
  stream_end: 'finalOutput',
};

function resolve<Of extends object>(
  all: Of[],
  fieldOf: (of: Of) => string | undefined,
  read: ReadResults,
): Of[] | Promise<Of[]> {
  const refOf = (of: Of): string[] => {
    const field = fieldOf(of);
    const id = field && (of as Record<string, unknown>)[`${field}Ref`];
    return typeof id === 'string' ? [id] : [];
  };
  const ids = all.flatMap(refOf);
  if (ids.length === 0) return all;
  return read(ids).then((found) => {
    const results = new Map(ids.map((id, at) => [id, found[at]]));
    return all.map((of) => {
      const [id] = refOf(of);
      const field = fieldOf(of);
      if (id === undefined || field === undefined) return of;
      const { [`${field}Ref`]: _ref, ...rest } = of as Record<string, unknown>;
      const json = results.get(id);
      if (json != null) rest[field] = JSON.parse(json);
      // A call without its result is one whose result was lost.
      else if ('toolCallId' in of) Object.assign(rest, RESULT_LOST);
      return rest as Of;
    });
  });
}

/** Rows of the first page, when their size is unknown; later pages aim at PAGE_BYTES. */
const FIRST_ROWS = 4;
const MAX_ROWS = 500;
const PAGE_BYTES = 256 * 1024;
/** Results read at once; each has more than `inlineResultBytes`. */
const RESULTS_AT_ONCE = 4;

export function createReadResults({ reads, keys }: RedisContext) {
  return (sessionId: string, meter?: ReadMeter): ReadResults =>
    async (ids) => {
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

export function createStoredRows(context: RedisContext) {
  const { reads: redis, keys } = context;
  const readResults = createReadResults(context);
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
        count = Math.min(Math.max(1, fitting), MAX_ROWS);
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
