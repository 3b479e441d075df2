import type { ChunkOf, ChunkType } from './chunk.js';

/** A guard takes whatever a reader hands out, also types that are invented later. */
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
