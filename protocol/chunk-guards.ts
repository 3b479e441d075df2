import type { ChunkOf, ChunkType, ControlMessage } from './chunk.js';

/** A type for each chunk. PROTOCOL.md#chunks describes the fields. */
export type TextDeltaChunk = ChunkOf<'text_delta'>;
export type ThinkingChunk = ChunkOf<'thinking'>;
export type ToolArgStreamStartChunk = ChunkOf<'tool_arg_stream_start'>;
export type ToolArgStreamDeltaChunk = ChunkOf<'tool_arg_stream_delta'>;
export type ToolArgStreamEndChunk = ChunkOf<'tool_arg_stream_end'>;
export type ToolStartChunk = ChunkOf<'tool_start'>;
export type ToolEndChunk = ChunkOf<'tool_end'>;
export type ToolApprovalRequestChunk = ChunkOf<'tool_approval_request'>;
export type ToolApprovalResponseChunk = ChunkOf<'tool_approval_response'>;
export type ToolInputErrorChunk = ChunkOf<'tool_input_error'>;
export type ToolOutputPreliminaryChunk = ChunkOf<'tool_output_preliminary'>;
export type ToolOutputErrorChunk = ChunkOf<'tool_output_error'>;
export type SubAgentStartChunk = ChunkOf<'subagent_start'>;
export type SubAgentEndChunk = ChunkOf<'subagent_end'>;
export type CustomEventChunk = ChunkOf<'custom'>;
export type StatePatchChunk = ChunkOf<'state_patch'>;
export type ErrorChunk = ChunkOf<'error'>;
export type OutputChunk = ChunkOf<'output'>;
export type SourceUrlChunk = ChunkOf<'source_url'>;
export type SourceDocumentChunk = ChunkOf<'source_document'>;
export type StepStartChunk = ChunkOf<'step_start'>;
export type StepEndChunk = ChunkOf<'step_end'>;
export type FileChunk = ChunkOf<'file'>;
export type RunInterruptedChunk = ChunkOf<'run_interrupted'>;
export type RunResumedChunk = ChunkOf<'run_resumed'>;
export type RunPausedChunk = ChunkOf<'run_paused'>;
export type TurnStartedChunk = ChunkOf<'turn_started'>;
export type QueueChangedChunk = ChunkOf<'queue_changed'>;
export type ExecutorSupersededChunk = ChunkOf<'executor_superseded'>;
export type CheckpointCreatedChunk = ChunkOf<'checkpoint_created'>;
export type StepCommittedChunk = ChunkOf<'step_committed'>;
export type StepDiscardedChunk = ChunkOf<'step_discarded'>;
export type StreamResyncChunk = ChunkOf<'stream_resync'>;
export type SuspensionMarkerChunk = ChunkOf<'suspension_marker'>;

/** A guard accepts any chunk, including types added by later versions. */
function guard<T extends ChunkType>(type: T) {
  return (message: { readonly type: string }): message is ChunkOf<T> => message.type === type;
}

export const isTextDeltaChunk = guard('text_delta');
export const isThinkingChunk = guard('thinking');
export const isToolArgStreamStartChunk = guard('tool_arg_stream_start');
export const isToolArgStreamDeltaChunk = guard('tool_arg_stream_delta');
export const isToolArgStreamEndChunk = guard('tool_arg_stream_end');
export const isToolStartChunk = guard('tool_start');
export const isToolEndChunk = guard('tool_end');
export const isToolApprovalRequestChunk = guard('tool_approval_request');
export const isToolApprovalResponseChunk = guard('tool_approval_response');
export const isToolInputErrorChunk = guard('tool_input_error');
export const isToolOutputPreliminaryChunk = guard('tool_output_preliminary');
export const isToolOutputErrorChunk = guard('tool_output_error');
export const isSubAgentStartChunk = guard('subagent_start');
export const isSubAgentEndChunk = guard('subagent_end');
export const isCustomEventChunk = guard('custom');
export const isStatePatchChunk = guard('state_patch');
export const isErrorChunk = guard('error');
export const isOutputChunk = guard('output');
export const isSourceUrlChunk = guard('source_url');
export const isSourceDocumentChunk = guard('source_document');
export const isStepStartChunk = guard('step_start');
export const isStepEndChunk = guard('step_end');
export const isFileChunk = guard('file');
export const isRunInterruptedChunk = guard('run_interrupted');
export const isRunResumedChunk = guard('run_resumed');
export const isRunPausedChunk = guard('run_paused');
export const isTurnStartedChunk = guard('turn_started');
export const isQueueChangedChunk = guard('queue_changed');
export const isExecutorSupersededChunk = guard('executor_superseded');
export const isCheckpointCreatedChunk = guard('checkpoint_created');
export const isStepCommittedChunk = guard('step_committed');
export const isStepDiscardedChunk = guard('step_discarded');
export const isStreamResyncChunk = guard('stream_resync');
export const isSuspensionMarkerChunk = guard('suspension_marker');

/** The end of a stream without detail; identical in every copy of this package. */
export const STREAM_END_SENTINEL = Symbol.for('helix.stream.end');

/** Marks the end of a stream in a queue within one process; never stored or sent. */
export interface StreamEndSentinel {
  __streamEnd: true;
  status: 'ended' | 'failed';
  error?: string;
}

/**
 * Creates a mark for the end of a stream in a queue of chunks.
 *
 * @example
 * import { createStreamEndSentinel, isStreamEndSentinel } from 'helix-temporal';
 *
 * const queue = ['Hello', createStreamEndSentinel('ended')];
 * for (const item of queue) {
 *   if (isStreamEndSentinel(item)) break;
 *   console.log(item);
 * }
 */
export function createStreamEndSentinel(
  status: StreamEndSentinel['status'],
  error?: string,
): StreamEndSentinel {
  return { __streamEnd: true, status, ...(error !== undefined && { error }) };
}

export function isStreamEndSentinel(value: unknown): value is StreamEndSentinel {
  if (typeof value !== 'object' || value === null) return false;
  const { __streamEnd, status } = value as Partial<StreamEndSentinel>;
  return __streamEnd === true && (status === 'ended' || status === 'failed');
}

/** Literals, so that browsers need not load the schemas. */
const CONTROL_TYPES: ReadonlySet<string> = new Set([
  'stream_end',
  'stream_status',
  'stream_truncated',
] satisfies ControlMessage['type'][]);

export function isControlMessage(message: { type: string }): message is ControlMessage {
  return CONTROL_TYPES.has(message.type);
}
