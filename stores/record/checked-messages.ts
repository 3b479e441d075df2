import { StreamMessageSchema, type StreamMessage } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { toStoredJson } from './to-stored-json.js';

const DELTAS = new Set<StreamMessage['type']>(['text_delta', 'thinking', 'tool_arg_stream_delta']);

/** A character of JavaScript text takes at most this many bytes of UTF-8. */
const MAX_BYTES_PER_CHAR = 3;

/**
 * The JSON texts of messages that are about to be stored, each checked against the protocol.
 *
 * @throws HelixError `invalid_chunk` with the first faults in `detail`, `chunk_too_large`
 */
export function toCheckedJson(messages: readonly StreamMessage[]): string[] {
  return messages.map((message) => {
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
  });
}

function toJson(message: StreamMessage): string {
  try {
    // Half a character may have its other half in the next delta.
    return DELTAS.has(message.type) ? JSON.stringify(message) : toStoredJson(message);
  } catch (error) {
    throw new HelixError('invalid_chunk', 'This chunk cannot be written as JSON.', {
      cause: error,
    });
  }
}
