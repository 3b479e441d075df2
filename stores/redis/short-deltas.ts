import type { StreamMessage } from '../../protocol/chunk.js';
import { toStoredJson } from '../record/to-stored-json.js';

/** Longer ones gain nothing; so the limit on the size of a chunk is the same in both forms. */
const LONGEST = 8_192;

/** Type and base fields. */
const SHARED = 5;

/**
 * The short form of a delta that was checked, see store/redis/entries; undefined for any
 * other message. Most entries of a log are deltas of a few letters, and the names and ids around them
 * are five times as long.
 */
export function toShortDelta(message: StreamMessage, conversationId: string): string | undefined {
  const own = ownFields(message);
  if (own === undefined || own[0].length > LONGEST) return undefined;
  // A field that is not of the protocol is stored as well.
  if (Object.keys(message).length !== SHARED + own.length) return undefined;
  const { agentId, agentType, step, timestamp } = message as StreamMessage & Base;
  const [text, ...of] = own;
  const delta: unknown[] = [text, agentType, step, timestamp, ...of];
  if (agentId !== conversationId) {
    // A stream without runs may have writers with any agent id.
    const before = `${conversationId}.`;
    if (agentId.length <= before.length || !agentId.startsWith(before)) return undefined;
    if (of.length === 0) delta.push(null);
    delta.push(agentId.slice(before.length));
  }
  return toStoredJson(delta);
}

interface Base {
  agentId: string;
  agentType: string;
  step: number;
  timestamp: number;
}

function ownFields(message: StreamMessage): [text: string, of?: string | boolean] | undefined {
  switch (message.type) {
    case 'text_delta':
      return [message.delta];
    case 'thinking':
      return [message.content, message.isComplete];
    case 'tool_arg_stream_delta':
      return [message.delta, message.toolCallId];
    default:
      return undefined;
  }
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
  switch (typeof of) {
    case 'boolean':
      return {
        type: 'thinking',
        ...{ agentId, agentType, timestamp, step },
        content: text,
        isComplete: of,
      };
    case 'string':
      return {
        type: 'tool_arg_stream_delta',
        ...{ agentId, agentType, timestamp, step },
        toolCallId: of,
        delta: text,
      };
    default:
      return { type: 'text_delta', agentId, agentType, timestamp, step, delta: text };
  }
}
