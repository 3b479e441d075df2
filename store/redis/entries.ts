import type { StreamMessage } from '../../protocol/chunk.js';
import { LIMITS } from '../../protocol/limits.js';

/**
 * Entries of a log. An entry has the fields `w`, its writer, and `c`, its message as JSON. A delta has
 * a single field: its name is the writer, which Redis mostly stores once for many entries, and its value
 * the short form.
 *
 * The short form is the JSON of `[text, agentType, step, timestamp, of, part]`: `of` is the id of the
 * call for an argument's delta, `isComplete` for thinking and null for text; `part` is the rest of the
 * agent's id after the conversation's. What would end the list as null or '' is left out. Each entry
 * is complete: none refers to another one, which might have been removed.
 */
export type StreamEntry = [id: string, fields: string[]];

export function writerOf(fields: readonly string[]): string {
  return (fields.length === 2 ? fields[0] : fields[1]) ?? '';
}

/** An entry as it is stored; a message that begins as a list is the short form of a delta. */
export function fieldsOf(writer: string, message: string): string[] {
  return message.startsWith('[') ? [writer, message] : ['w', writer, 'c', message];
}

/** The message of an entry as JSON, or the short form of a delta. */
export function jsonOf(fields: readonly string[]): string {
  return (fields.length === 2 ? fields[1] : fields[3]) ?? '';
}

/** Longer ones gain nothing; so the limit on the size of a chunk is the same in both forms. */
const LONGEST = 8_192;

/** Type and base fields. */
const SHARED = 5;

/**
 * The short form of a delta that is one of the protocol; undefined for any other message, which has to be
 * checked. Most entries of a log are deltas of a few letters: the names and ids around them are five times as
 * long, and the schema would take longer than all else that a worker does with them.
 */
export function toShortDelta(message: StreamMessage, conversationId: string): string | undefined {
  const own = ownFields(message);
  if (own === undefined) return undefined;
  // A field that is not of the protocol is stored as well.
  if (Object.keys(message).length !== SHARED + own.length) return undefined;
  const { agentId, agentType, step, timestamp } = message as StreamMessage & Base;
  if (!isId(agentId) || !isId(agentType) || !isCount(step) || !Number.isFinite(timestamp)) {
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
  // Half a character may be in it.
  return json.includes('\\ud') ? undefined : json;
}

interface Base {
  agentId: string;
  agentType: string;
  step: number;
  timestamp: number;
}

/** @param message not checked: of whatever a caller has made of it */
function ownFields(
  message: StreamMessage | null,
): [text: string, of?: string | boolean] | undefined {
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
  return typeof text === 'string' && text.length <= LONGEST;
}

function isId(text: unknown): boolean {
  return typeof text === 'string' && text !== '' && text.length <= LIMITS.idChars;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** A message as it was parsed from its JSON, or from the short form; undefined if it is neither. */
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
