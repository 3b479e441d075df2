import {
  JSONPatchOperation,
  StreamMessageSchema,
  type ChunkOf,
  type StreamMessage,
} from '../../protocol/chunk.js';
import { HelixError, type ErrorCode } from '../../protocol/errors.js';
import { isDeeperThan, LIMITS, tryParseJson } from '../../protocol/limits.js';
import type { Row, ToolRow } from '../../protocol/rows.js';
import type { StagedChanges } from '../contract/documents.js';
import { corrupt } from './corrupt.js';

/** A lone surrogate as JSON.stringify writes it. Escaped backslashes before it are skipped. */
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

interface StoredJsonOptions {
  /** Arrays and objects around the user's value; they do not count towards the limit. */
  around?: number;
  /** Code of the refusal of a value that cannot be stored. */
  code?: ErrorCode;
}

/**
 * Converts a value to stored JSON. Lone surrogates, from models and tools that cut text anywhere, become U+FFFD,
 * because Redis' JSON reader refuses them and would block the session. That reader also refuses deep nesting, so deep
 * values are refused before anything is written.
 *
 * @throws HelixError `validation_error` for a value that JSON cannot express, or that is too deep
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
    // Cycles, BigInt, a toJSON that throws, and values too deep for the engine.
    cause = error;
  }
  if (json !== undefined) return json;
  throw new HelixError(code, 'A value cannot be written as JSON.', { cause });
}

/** Converts a call's staged changes to JSON. @throws HelixError `validation_error`, see toStoredJson */
export function toStoredChanges(changes: StagedChanges): string {
  // Merged values become part of the state unchanged; other values are nested in their patch.
  if (changes.mergeChanges !== undefined) toStoredJson(changes.mergeChanges);
  return toStoredJson(changes, { around: 3 });
}

/** A row whose large output is stored separately. */
type RowByReference = Omit<ToolRow, 'output'> & { outputRef: string };

/**
 * Converts a row to JSON. The fields that changes read come first, potentially large ones last (session/messages).
 *
 * @throws HelixError `validation_error`, see toStoredJson
 */
export function toStoredRow(row: Row | RowByReference): string {
  if (row.role === 'user') {
    const { role, id, hidden = false, parts, ...rest } = row;
    // A page's value is nested in its part.
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
  // The input is nested in the decision, a value in its event.
  const around = events !== undefined ? 4 : decision !== undefined ? 2 : 1;
  return toStoredJson({ ...head, ...rest, error, denied, decision, events }, { around });
}

/** A character of JavaScript text takes at most this many bytes of UTF-8. */
const MAX_BYTES_PER_CHAR = 3;

/**
 * Checks a message against the protocol and converts it to JSON.
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

export function toCheckedJson(messages: readonly StreamMessage[]): string[] {
  return messages.map(toCheckedText);
}

function toJson(message: StreamMessage): string {
  const given = message.type === 'state_patch' ? withStoredUndo(message) : message;
  // A state patch nests values deeper than other chunks.
  return toStoredJson(given, {
    around: message.type === 'state_patch' ? 3 : 1,
    code: 'invalid_chunk',
  });
}

/** Checks and converts `undo`, a JSON text that a change turns into a chunk of its own. */
function withStoredUndo(message: ChunkOf<'state_patch'>): ChunkOf<'state_patch'> {
  if (message.undo === undefined) return message;
  const undo = JSONPatchOperation.array().safeParse(tryParseJson(message.undo));
  if (!undo.success)
    throw new HelixError('invalid_chunk', 'What takes this chunk back is no patch.');
  return { ...message, undo: toStoredJson(undo.data, { around: 2, code: 'invalid_chunk' }) };
}

/** Parses stored JSON. @throws HelixError `corrupt_record`: another program wrote the text, or it was truncated */
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
