import { toStoredJson } from '../record/stored-json.js';
import type { LogEntry, StreamMessage } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';
import type { AssistantRow, Row, ToolRow } from '../../protocol/rows.js';

/**
 * Results above LIMITS.inlineResultBytes are stored once, apart from row and chunk, which refer to
 * them. This keeps the log fast to read and avoids storing them twice.
 */

/** A tool row whose output is stored apart. */
type StoredToolRow = Omit<ToolRow, 'output'> & { outputRef: string };

/** An assistant row whose output (the result of the run) is stored apart. */
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

/** Reads results by call id; one entry for each id, null if missing. */
export type ReadResults = (ids: string[]) => Promise<(string | null)[]>;

/** Restores large results in log entries. Costs nothing without such results. */
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

/** Restores large results in rows. */
export async function resolveRows(
  rows: (Row | StoredToolRow | StoredReply)[],
  read: ReadResults,
): Promise<Row[]> {
  const ids = rows.flatMap((row) => ('outputRef' in row ? row.outputRef : []));
  if (ids.length === 0) return rows;
  const found = await readById(ids, read);
  return rows.map((row) => {
    if (!('outputRef' in row)) return row;
    const { outputRef, ...rest } = row;
    if (found.has(outputRef)) return { ...rest, output: found.get(outputRef) };
    return rest.role === 'tool' ? { ...rest, ...LOST } : rest;
  });
}

const LOST = {
  error: 'The result of this call is no longer there.',
  errorCode: 'tool_result_lost',
};

/** Field that may be stored apart, and the field that refers to it, by message type. */
const REFERENCES: Record<string, { value: string; ref: string } | undefined> = {
  tool_end: { value: 'result', ref: 'resultRef' },
  output: { value: 'output', ref: 'outputRef' },
  stream_end: { value: 'finalOutput', ref: 'finalOutputRef' },
};

function refOf(message: StreamMessage): string | undefined {
  const reference = REFERENCES[message.type];
  if (reference === undefined) return undefined;
  const id = (message as Record<string, unknown>)[reference.ref];
  return typeof id === 'string' ? id : undefined;
}

function withResult(message: StreamMessage, found: Map<string, unknown>): StreamMessage {
  const reference = REFERENCES[message.type];
  const id = refOf(message);
  if (reference === undefined || id === undefined) return message;
  const { [reference.ref]: _ref, ...rest } = message as Record<string, unknown>;
  if (found.has(id)) rest[reference.value] = found.get(id);
  else if (message.type === 'tool_end') Object.assign(rest, LOST);
  return rest as StreamMessage;
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
