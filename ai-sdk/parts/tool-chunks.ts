import type { StreamChunk } from '../../protocol/chunk.js';

/** The chunks that tell of a call. */
export type ToolChunk = Exclude<
  Extract<StreamChunk, { toolCallId: string }>,
  { type: 'run_paused' }
>;

export function isToolChunk(chunk: StreamChunk): chunk is ToolChunk {
  return chunk.type.startsWith('tool_');
}

/** True for chunks by which a model makes a call, false for those that tell what became of it. */
export function isCallOpening(chunk: ToolChunk): boolean {
  return (
    chunk.type === 'tool_arg_stream_start' ||
    chunk.type === 'tool_start' ||
    chunk.type === 'tool_input_error' ||
    chunk.type === 'tool_approval_request'
  );
}
