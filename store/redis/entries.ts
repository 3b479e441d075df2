import type { StreamMessage } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';

/**
 * An entry of a log. It has the fields `w`, its writer, and `c`, its message as JSON. A delta has a single field, named
 * by its writer, which Redis mostly stores once for many entries; the value is the short form.
 *
 * The short form is the JSON of `[text, agentType, step, timestamp, of, part]`. `of` is the call's id for an argument's
 * delta, `isComplete` for thinking and null for text. `part` is the rest of the agent's id after the conversation's.
 * Trailing null and '' are omitted. Each entry is complete: a reference to another one would break once that is
 * removed.
 */
export type StreamEntry = [id: string, fields: string[]];

export function writerOf(fields: readonly string[]): string {
  return (fields.length === 2 ? fields[0] : fields[1]) ?? '';
}

/** Returns an entry's stored fields. A message that begins as a list is the short form of a delta. */
export function fieldsOf(writer: string, message: string): string[] {
  return message.startsWith('[') ? [writer, message] : ['w', writer, 'c', message];
}

/** Returns an entry's message as JSON, or the short form of a delta. */
export function jsonOf(fields: readonly string[]): string {
  return (fields.length === 2 ? fields[1] : fields[3]) ?? '';
}

/** Longer texts gain nothing, so the size limit of chunks is the same in both forms. */
const MAX = 8_192;

/** Number of fields shared by all types: the type and the base fields. */
const SHARED = 5;

/**
 * Returns the short form of a delta of the protocol; undefined for any other message, which must be checked. Most
 * entries of a log are deltas of a few letters: their names and ids are five times as long, and the schema would take
 * longer than all other work of a worker on them.
 */
export function toShortDelta(message: StreamMessage, conversationId: string): string | undefined {
  const own = ownFields(message);
  if (own === undefined) return undefined;
  // Messages with unknown fields are stored in full.
  if (Object.keys(message).length !== SHARED + own.length) return undefined;
  const { agentId, agentType, step, timestamp } = message as StreamMessage & Base;
  if (
    !isId(agentId) ||
    !isId(agentType) ||
    !(Number.isSafeInteger(step) && step >= 0) ||
    !Number.isFinite(timestamp)
  ) {
    return undefined;
  }
  const [text, ...of] = own;
  const delta: unknown[] = [text, agentType, step, timestamp, ...of];
  if (agentId !== conversationId) {
    // A stream without runs may have writers with any agent id.
    const before = `${conversationId}.`;
    if (agentId.length <= before.length || !agentId.startsWith(before)) return undefined;
    if (of.length === 0) delta.push(null);
    delta.push(agentId.slice(before.length));
  }
  const json = JSON.stringify(delta);
  // The text may contain a lone surrogate.
  return json.includes('\\ud') ? undefined : json;
}

interface Base {
  agentId: string;
  agentType: string;
  step: number;
  timestamp: number;
}

/** @param message not checked: of whatever a caller has made of it */
function ownFields(message: StreamMessage | null) {
  switch (message?.type) {
    case 'text_delta':
      return isShort(message.delta) ? [message.delta] : undefined;
    case 'thinking': {
      const { content, isComplete } = message;
      return isShort(content) && typeof isComplete === 'boolean'
        ? [content, isComplete]
        : undefined;
    }
    case 'tool_arg_stream_delta': {
      const { delta, toolCallId } = message;
      return isShort(delta) && isId(toolCallId) ? [delta, toolCallId] : undefined;
    }
    default:
      return undefined;
  }
}

function isShort(text: unknown): boolean {
  return typeof text === 'string' && text.length <= MAX;
}

function isId(text: unknown): boolean {
  return typeof text === 'string' && text !== '' && text.length <= LIMITS.idChars;
}

/** Returns the message of parsed JSON, in full or short form; undefined for anything else. */
export function toMessage(parsed: unknown, conversationId: string): StreamMessage | undefined {
  if (Array.isArray(parsed)) return fromShortDelta(parsed, conversationId);
  // Only the shape is checked; unknown types are for newer readers.
  return typeof (parsed as StreamMessage | null)?.type === 'string'
    ? (parsed as StreamMessage)
    : undefined;
}

function fromShortDelta(
  [text, agentType, step, timestamp, of, part]: unknown[],
  conversationId: string,
): StreamMessage | undefined {
  if (typeof text !== 'string' || typeof agentType !== 'string') return undefined;
  if (typeof step !== 'number' || typeof timestamp !== 'number') return undefined;
  const agentId = typeof part === 'string' ? `${conversationId}.${part}` : conversationId;
  const base = { agentId, agentType, timestamp, step };
  switch (typeof of) {
    case 'boolean':
      return { type: 'thinking', ...base, content: text, isComplete: of };
    case 'string':
      return { type: 'tool_arg_stream_delta', ...base, toolCallId: of, delta: text };
    default:
      return { type: 'text_delta', ...base, delta: text };
  }
}
