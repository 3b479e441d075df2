import type { StreamChunk } from '../protocol/chunk.js';

/** Of UTF-16 text; even where each unit becomes six bytes of JSON this stays below a chunk's limit. */
const MAX_UNITS = 32 * 1024;

/** Cuts a delta that no store would take into several that say the same. Pure. */
export function splitOversized(chunk: StreamChunk): StreamChunk[] {
  switch (chunk.type) {
    case 'text_delta':
    case 'tool_arg_stream_delta':
      if (chunk.delta.length <= MAX_UNITS) return [chunk];
      return pieces(chunk.delta).map((delta) => ({ ...chunk, delta }));
    case 'thinking': {
      if (chunk.content.length <= MAX_UNITS) return [chunk];
      const parts = pieces(chunk.content);
      // Only the last piece may close the block.
      return parts.map((content, at) => ({
        ...chunk,
        content,
        isComplete: chunk.isComplete && at === parts.length - 1,
      }));
    }
    default:
      return [chunk];
  }
}

/** No piece ends between the two halves of a character. */
function pieces(text: string): string[] {
  const found: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_UNITS, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}
