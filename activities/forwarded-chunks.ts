import { StreamChunkSchema, type StreamChunk } from '../protocol/chunk.js';
import { HelixError } from '../protocol/errors.js';
import { toCheckedJson } from '../stores/record/checked-messages.js';

/** Frames of a sub-agent are the parent's own word about it. */
const FRAMES: ReadonlySet<string> = new Set(['subagent_start', 'subagent_end']);

/**
 * Chunks that a tool brings from an agent elsewhere. They may speak for any agent but the one that
 * runs the tool: what that says, and how its run goes, is written by the runtime alone.
 *
 * @throws HelixError `invalid_chunk`, `chunk_too_large`; then none is taken
 */
export function checkForwarded(
  sessionId: string,
  given: readonly StreamChunk[],
): readonly StreamChunk[] {
  const chunks = given.map((chunk) => {
    const parsed = StreamChunkSchema.safeParse(chunk);
    if (!parsed.success) throw new HelixError('invalid_chunk', 'This is no chunk of a stream.');
    if ((parsed.data.agentId === sessionId) !== FRAMES.has(parsed.data.type)) {
      throw new HelixError('invalid_chunk', 'A tool forwards chunks of other agents only.');
    }
    return withoutStoreFields(parsed.data);
  });
  toCheckedJson(chunks);
  return chunks;
}

/** What only the store may say: where a result is kept, and what takes changes of this agent back. */
function withoutStoreFields(chunk: StreamChunk): StreamChunk {
  if (chunk.type === 'state_patch') {
    const { undo: _undo, ...rest } = chunk;
    return rest;
  }
  if (chunk.type !== 'tool_end') return chunk;
  const { resultRef: _resultRef, ...rest } = chunk;
  return rest;
}
