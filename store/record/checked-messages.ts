import {
  JSONPatchOperation,
  StreamMessageSchema,
  type ChunkOf,
  type StreamMessage,
} from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { toStoredJson } from './to-stored-json.js';

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
