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

interface KeptApart<Given> {
  row: Given | StoredToolRow;
  chunks: StreamMessage[];
  /** JSON of the output, if it was removed from the row. */
  output?: string;
}

/** Removes a large output from a call's row and chunk. */
export function keepApart<Given extends ToolRow | undefined>(
  row: Given,
  chunks: StreamMessage[],
): KeptApart<Given> {
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
export function resolveEntries(
  entries: LogEntry[],
  read: ReadResults,
): LogEntry[] | Promise<LogEntry[]> {
  const ids = entries.flatMap(({ message }) => refOf(message, REFERENCES[message.type]));
  if (ids.length === 0) return entries;
  return readById(ids, read).then((found) =>
    entries.map((entry) => {
      const { message } = entry;
      const isResult = message.type === 'tool_end';
      return { ...entry, message: restored(message, REFERENCES[message.type], found, isResult) };
    }),
  );
}

export async function resolveRows(
  rows: (Row | StoredToolRow | StoredReply)[],
  read: ReadResults,
): Promise<Row[]> {
  const ids = rows.flatMap((row) => refOf(row, OF_ROW));
  if (ids.length === 0) return rows;
  const found = await readById(ids, read);
  return rows.map((row) => restored(row, OF_ROW, found, row.role === 'tool'));
}

/** A field that may be stored separately, and the field that refers to it. */
interface Reference {
  value: string;
  ref: string;
}

const OF_ROW: Reference = { value: 'output', ref: 'outputRef' };

const REFERENCES: Record<string, Reference | undefined> = {
  tool_end: { value: 'result', ref: 'resultRef' },
  output: { value: 'output', ref: 'outputRef' },
  stream_end: { value: 'finalOutput', ref: 'finalOutputRef' },
};

function refOf(of: object, reference: Reference | undefined): string[] {
  const id = reference && (of as Record<string, unknown>)[reference.ref];
  return typeof id === 'string' ? [id] : [];
}

/** @param mustBeThere a call without its result is one whose result was lost */
function restored<Of extends object>(
  of: Of,
  reference: Reference | undefined,
  found: ReadonlyMap<string, unknown>,
  mustBeThere: boolean,
): Of {
  const [id] = refOf(of, reference);
  if (reference === undefined || id === undefined) return of;
  const { [reference.ref]: _ref, ...rest } = of as Record<string, unknown>;
  if (found.has(id)) rest[reference.value] = found.get(id);
  else if (mustBeThere) Object.assign(rest, RESULT_LOST);
  return rest as Of;
}

async function readById(ids: string[], read: ReadResults): Promise<Map<string, unknown>> {
  const values = await read(ids);
  return new Map(
    ids.flatMap((id, at): [string, unknown][] => {
      const json = values[at];
      return json == null ? [] : [[id, JSON.parse(json)]];
    }),
  );
}

/** Rows of the first page, when their size is unknown; later pages aim at PAGE_BYTES. */
const FIRST_ROWS = 4;
const MOST_ROWS = 500;
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
