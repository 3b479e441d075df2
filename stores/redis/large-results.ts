import { toStoredJson } from '../record/to-stored-json.js';
import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Row, ToolRow } from '../../protocol/rows.js';

/**
 * Results above LIMITS.inlineResultBytes are stored once, beside row and chunk, which name them:
 * so the log stays quick to read and nothing is kept twice.
 */

/** A row as it is stored when its output is kept apart. */
type StoredToolRow = Omit<ToolRow, 'output'> & { outputRef: string };

interface KeptApart {
  row: ToolRow | StoredToolRow | undefined;
  chunks: StreamMessage[];
  /** JSON of the output, if it was taken out. */
  output?: string;
}

/** Takes a large output out of a call's row and chunk. Pure. */
export function keepApart(row: ToolRow | undefined, chunks: StreamMessage[]): KeptApart {
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

/** Reads results by the ids of their calls; one entry per id, null where there is none. */
export type ReadResults = (ids: string[]) => Promise<(string | null)[]>;

/** Puts large results back into entries of the log. Costs nothing where there are none. */
export function resolveEntries(
  entries: LogEntry[],
  read: ReadResults,
): LogEntry[] | Promise<LogEntry[]> {
  const ids = entries.flatMap(({ message }) => refOf(message) ?? []);
  if (ids.length === 0) return entries;
  return readById(ids, read).then((found) =>
    entries.map((entry) => ({ ...entry, message: withResult(entry.message, found) })),
  );
}

/** Puts large results back into rows. */
export async function resolveRows(
  rows: (Row | StoredToolRow)[],
  read: ReadResults,
): Promise<Row[]> {
  const ids = rows.flatMap((row) => ('outputRef' in row ? row.outputRef : []));
  if (ids.length === 0) return rows;
  const found = await readById(ids, read);
  return rows.map((row) => {
    if (!('outputRef' in row)) return row;
    const { outputRef, ...rest } = row;
    return found.has(outputRef)
      ? { ...rest, output: found.get(outputRef) }
      : { ...rest, error: LOST_TEXT, errorCode: LOST_CODE };
  });
}

const LOST_CODE = 'tool_result_lost';
const LOST_TEXT = 'The result of this call is no longer there.';

function refOf(message: StreamMessage): string | undefined {
  return message.type === 'tool_end' ? message.resultRef : undefined;
}

function withResult(message: StreamMessage, found: Map<string, unknown>): StreamMessage {
  if (message.type !== 'tool_end' || message.resultRef === undefined) return message;
  const { resultRef, ...rest } = message;
  return found.has(resultRef)
    ? { ...rest, result: found.get(resultRef) }
    : { ...rest, error: LOST_TEXT, errorCode: LOST_CODE };
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
