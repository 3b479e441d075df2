import { toStoredJson } from '../record/stored-json.js';
import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AssistantRow, Row, ToolRow } from '../../protocol/rows.js';

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

/** Removes a large output from a call's row and chunk. Pure. */
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
      const result = restored(
        message,
        REFERENCES[message.type],
        found,
        message.type === 'tool_end',
      );
      return { ...entry, message: result };
    }),
  );
}

/** Restores large results in rows. */
export async function resolveRows(
  rows: (Row | StoredToolRow | StoredReply)[],
  read: ReadResults,
): Promise<Row[]> {
  const ids = rows.flatMap((row) => refOf(row, OF_ROW));
  if (ids.length === 0) return rows;
  const found = await readById(ids, read);
  return rows.map((row) => restored(row, OF_ROW, found, row.role === 'tool'));
}

const LOST = {
  error: 'The result of this call is no longer there.',
  errorCode: 'tool_result_lost',
};

/** A field that may be stored separately, and the field that refers to it. */
interface Reference {
  value: string;
  ref: string;
}

const OF_ROW: Reference = { value: 'output', ref: 'outputRef' };

/** References by message type. */
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
  else if (mustBeThere) Object.assign(rest, LOST);
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
