import {
  JSONPatchOperation,
  StreamMessageSchema,
  type ChunkOf,
  type StreamMessage,
} from '../../protocol/chunk.js';
import { HelixError, type ErrorCode } from '../../protocol/errors.js';
import { isDeeperThan } from '../../protocol/json-depth.js';
import { LIMITS } from '../../protocol/limits.js';
import type { Row, ToolRow } from '../../protocol/rows.js';
import type { StagedChanges } from '../contract/documents.js';

/** Half of a surrogate pair, as JSON.stringify writes it; a backslash before it is no escape's. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

interface StoredJsonOptions {
  /** Arrays and objects around the user's value; they do not count towards the limit. */
  around?: number;
  /** Code of the refusal of a value that cannot be stored. */
  code?: ErrorCode;
}

/**
 * A value as the JSON text that is stored. Half characters, of models and tools that cut text
 * anywhere, become U+FFFD: Redis' JSON reader refuses them, and would block the session. It refuses
 * deep nesting as well, so deep values are refused here, before anything is written.
 *
 * @throws HelixError `validation_error` for what JSON cannot express, or what is too deep
 */
export function toStoredJson(
  value: unknown,
  { around = 0, code = 'validation_error' }: StoredJsonOptions = {},
): string {
  const json = stringify(value, code);
  if (isDeeperThan(LIMITS.jsonDepth + around, json)) {
    throw new HelixError(code, 'A value is nested too deeply to be stored.', {
      detail: { limit: LIMITS.jsonDepth },
    });
  }
  return json.includes('\\ud') ? json.replace(LONE_SURROGATE, '$1\\ufffd') : json;
}

function stringify(value: unknown, code: ErrorCode): string {
  let json: string | undefined;
  let cause: unknown;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    // Cycles, BigInt, a toJSON that throws, and what is far too deep for the engine.
    cause = error;
  }
  if (json !== undefined) return json;
  throw new HelixError(code, 'A value cannot be written as JSON.', { cause });
}

/**
 * Changes of a call as they are staged.
 *
 * @throws HelixError `validation_error`, see toStoredJson
 */
export function toStoredChanges(changes: StagedChanges): string {
  // What is merged becomes part of the state as it is; a value lies within its patch.
  if (changes.mergeChanges !== undefined) toStoredJson(changes.mergeChanges);
  return toStoredJson(changes, { around: 3 });
}

/** A row whose large output is kept apart. */
type RowByReference = Omit<ToolRow, 'output'> & { outputRef: string };

/**
 * A row as it is stored: what changes read of it stands in front, what may be large behind it
 * (session/messages).
 *
 * @throws HelixError `validation_error`, see toStoredJson
 */
export function toStoredRow(row: Row | RowByReference): string {
  if (row.role === 'user') {
    const { role, id, hidden = false, parts, ...rest } = row;
    // A page's value is in its part.
    const around = rest.data === undefined ? 1 : 3;
    return toStoredJson({ role, id, hidden, parts, ...rest }, { around });
  }
  if (row.role === 'tool') return toStoredToolRow(row);
  const { role, messageId, runId, step, display, parts, ...rest } = row;
  return toStoredJson({ role, messageId, runId, step, display, parts, ...rest }, { around: 3 });
}

function toStoredToolRow(row: ToolRow | RowByReference): string {
  const { role, toolCallId, toolName, display, error, denied, decision, events, ...rest } = row;
  const head = { role, toolCallId, toolName, display };
  // The input is in the decision, a value in its event.
  const around = events !== undefined ? 4 : decision !== undefined ? 2 : 1;
  return toStoredJson({ ...head, ...rest, error, denied, decision, events }, { around });
}

/** A character of JavaScript text takes at most this many bytes of UTF-8. */
const MAX_BYTES_PER_CHAR = 3;

/**
 * The JSON text of a message that is about to be stored, checked against the protocol.
 *
 * @throws HelixError `invalid_chunk` with the first faults in `detail`, `chunk_too_large`
 */
export function toCheckedText(message: StreamMessage): string {
  const checked = StreamMessageSchema.safeParse(message);
  if (!checked.success) {
    const detail = checked.error.issues.slice(0, 5).map(({ path, message: text }) => ({
      path: path.map(String).join('.'),
      text,
    }));
    throw new HelixError('invalid_chunk', 'This is no chunk of the stream protocol.', { detail });
  }
  const json = toJson(message);
  if (
    json.length * MAX_BYTES_PER_CHAR > LIMITS.chunkBytes &&
    Buffer.byteLength(json) > LIMITS.chunkBytes
  ) {
    throw new HelixError('chunk_too_large', 'A chunk is limited to 256 KB.', {
      detail: { type: message.type },
    });
  }
  return json;
}

/** The same for several. */
export function toCheckedJson(messages: readonly StreamMessage[]): string[] {
  return messages.map(toCheckedText);
}

function toJson(message: StreamMessage): string {
  const given = message.type === 'state_patch' ? withStoredUndo(message) : message;
  // A value within its patch, anything else within the chunk.
  return toStoredJson(given, {
    around: message.type === 'state_patch' ? 3 : 1,
    code: 'invalid_chunk',
  });
}

/** What takes patches back is a text within, which a transition makes a chunk of. */
function withStoredUndo(message: ChunkOf<'state_patch'>): ChunkOf<'state_patch'> {
  if (message.undo === undefined) return message;
  const undo = JSONPatchOperation.array().safeParse(parse(message.undo));
  if (!undo.success)
    throw new HelixError('invalid_chunk', 'What takes this chunk back is no patch.');
  return { ...message, undo: toStoredJson(undo.data, { around: 2, code: 'invalid_chunk' }) };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Parses stored JSON. Only checked values are stored, so anything else was written by another
 * program or truncated.
 *
 * @throws HelixError `corrupt_record`
 */
export function parseStored(text: string | undefined, what: string): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch (error) {
    throw corrupt(what, error);
  }
}

/** Parses a row, without the stored `hidden: false` of a visible message, which is implied. */
export function parseRow(text: string | undefined, what: string): Row {
  const row = parseStored(text, what) as Row;
  if (row.role === 'user' && row.hidden === false) delete row.hidden;
  return row;
}

export function corrupt(what: string, cause?: unknown): HelixError {
  return new HelixError('corrupt_record', 'A stored record cannot be read.', {
    detail: { what },
    cause,
  });
}
