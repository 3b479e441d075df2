import { StreamChunkSchema, type StreamChunk } from '../protocol/chunk.js';
import { HelixError } from '../protocol/errors.js';
import { isReservedEventName } from '../protocol/event-names.js';
import { rootOf } from '../protocol/ids.js';
import { isShownUrl } from '../protocol/shown-url.js';
import { toCheckedJson } from '../stores/record/checked-messages.js';

/**
 * Chunks that a tool brings from an agent elsewhere. They may speak for any agent but those of this
 * conversation: what these say, and how their runs go, is written by the runtime alone. Nor may an
 * event have the name of one of the runtime's, or an address run as a script in the page.
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
    checkSpeaker(sessionId, parsed.data);
    checkShown(parsed.data);
    return withoutStoreFields(parsed.data);
  });
  toCheckedJson(chunks);
  return chunks;
}

function checkSpeaker(sessionId: string, chunk: StreamChunk): void {
  const isOurs = (agentId: string): boolean => rootOf(agentId) === rootOf(sessionId);
  const isFrame = chunk.type === 'subagent_start' || chunk.type === 'subagent_end';
  if (
    isFrame ? chunk.agentId === sessionId && !isOurs(chunk.subSessionId) : !isOurs(chunk.agentId)
  ) {
    return;
  }
  throw new HelixError('invalid_chunk', 'A tool forwards chunks of other agents only.');
}

function checkShown(chunk: StreamChunk): void {
  if (chunk.type === 'custom' && isReservedEventName(chunk.eventName)) {
    throw new HelixError('invalid_chunk', 'This name of an event is reserved.');
  }
  if (
    (chunk.type === 'source_url' || chunk.type === 'file') &&
    !isShownUrl(chunk.type, chunk.url)
  ) {
    throw new HelixError('invalid_chunk', 'Addresses are of http, https or, of files, data.');
  }
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
