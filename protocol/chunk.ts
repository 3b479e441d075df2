import { z } from 'zod';
import { LIMITS } from './limits.js';

/**
 * The stream protocol's chunks; PROTOCOL.md is the normative text. Writers are strict, readers
 * skip types they do not know. Field names are those of the Helix stream protocol (v7); fields
 * marked "extension" are additions, which readers may ignore.
 */
const base = {
  /** Session id of the agent that speaks; a sub-agent has its own. */
  agentId: z.string(),
  /** Name of the agent's definition. */
  agentType: z.string(),
  /** Milliseconds since the epoch. */
  timestamp: z.number(),
  /** 1-based in each turn; 0 before the first model call. */
  step: z.number().int().nonnegative(),
};
const id = z.string().min(1).max(LIMITS.idChars);

function chunk<T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) {
  return z.object({ type: z.literal(type), ...base, ...shape });
}

const JsonPatchOperation = z.object({
  op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
  path: z.string(),
  from: z.string().optional(),
  value: z.unknown().optional(),
});

export const FinishReason = z.enum([
  'stop',
  'length',
  'tool-calls',
  'content-filter',
  'error',
  'other',
]);
export type FinishReason = z.infer<typeof FinishReason>;

export const Usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
});
export type Usage = z.infer<typeof Usage>;

export const StreamChunkSchema = z.discriminatedUnion('type', [
  chunk('text_delta', { delta: z.string() }),
  chunk('thinking', { content: z.string(), isComplete: z.boolean() }),
  chunk('tool_arg_stream_start', { toolCallId: id, toolName: id }),
  chunk('tool_arg_stream_delta', { toolCallId: id, delta: z.string() }),
  chunk('tool_arg_stream_end', { toolCallId: id }),
  chunk('tool_start', {
    toolCallId: id,
    toolName: id,
    arguments: z.unknown(),
    /** Extension: false or absent when the client executes the call. */
    providerExecuted: z.boolean().optional(),
  }),
  chunk('tool_end', {
    toolCallId: id,
    toolName: id,
    result: z.unknown(),
    error: z.string().optional(),
    errorCode: z.string().optional(),
    providerExecuted: z.boolean().optional(),
  }),
  chunk('tool_input_error', {
    toolCallId: id,
    toolName: id,
    error: z.string(),
    partialInput: z.unknown().optional(),
  }),
  chunk('tool_output_error', { toolCallId: id, toolName: id, error: z.string() }),
  chunk('tool_approval_request', {
    toolCallId: id,
    toolName: id,
    approvalId: z.string(),
    input: z.unknown(),
    isAutomatic: z.boolean().optional(),
  }),
  chunk('tool_approval_response', {
    toolCallId: id,
    toolName: id,
    approvalId: z.string(),
    approved: z.boolean(),
    reason: z.string().optional(),
    isAutomatic: z.boolean().optional(),
  }),
  chunk('subagent_start', { subAgentType: z.string(), subSessionId: z.string(), callId: id }),
  chunk('subagent_end', {
    subAgentType: z.string(),
    subSessionId: z.string(),
    callId: id,
    result: z.unknown(),
  }),
  chunk('custom', { eventName: z.string().min(1).max(LIMITS.idChars), data: z.unknown() }),
  chunk('state_patch', { patches: z.array(JsonPatchOperation) }),
  chunk('error', {
    error: z.string(),
    code: z.string().optional(),
    errorDetail: z
      .object({
        message: z.string(),
        code: z.string().optional(),
        category: z.string().optional(),
        cause: z.string().optional(),
        retryable: z.boolean().optional(),
      })
      .optional(),
    recoverable: z.boolean(),
  }),
  chunk('output', { output: z.unknown() }),
  chunk('source_url', { sourceId: z.string(), url: z.string(), title: z.string().optional() }),
  chunk('source_document', {
    sourceId: z.string(),
    mediaType: z.string(),
    title: z.string(),
    filename: z.string().optional(),
  }),
  chunk('step_start', { stepId: z.string().optional() }),
  chunk('step_end', {
    stepId: z.string().optional(),
    usage: Usage.optional(),
    finishReason: FinishReason.optional(),
  }),
  chunk('file', { url: z.string(), mediaType: z.string(), filename: z.string().optional() }),
  chunk('run_interrupted', {
    runId: z.string(),
    checkpointId: z.string().nullable(),
    reason: z.string().optional(),
  }),
  chunk('run_resumed', {
    runId: z.string(),
    fromCheckpointId: z.string().nullable(),
    fromStepCount: z.number(),
    mode: z.string(),
  }),
  chunk('run_paused', {
    runId: z.string(),
    reason: z.string(),
    pendingToolName: z.string().optional(),
    pendingToolCallId: z.string().optional(),
  }),
  chunk('executor_superseded', { reason: z.string().optional() }),
  chunk('checkpoint_created', {
    runId: z.string(),
    checkpointId: z.string(),
    stepCount: z.number(),
  }),
  chunk('step_committed', { runId: z.string(), stepId: z.string(), checkpointId: z.string() }),
  chunk('step_discarded', { runId: z.string(), stepId: z.string(), reason: z.string() }),
  chunk('stream_resync', {
    checkpointId: z.string(),
    stepCount: z.number(),
    messageCount: z.number(),
    fromSequence: z.number(),
    reason: z.enum(['crash_recovery', 'rollback', 'branch', 'retry']),
  }),
  chunk('suspension_marker', {
    kind: z.enum([
      'suspended_client_tool',
      'suspended_awaiting_children',
      'suspended_step_partial',
    ]),
    payload: z.record(z.string(), z.unknown()),
  }),
]);
export type StreamChunk = z.infer<typeof StreamChunkSchema>;
export type ChunkType = StreamChunk['type'];
export type ChunkOf<T extends ChunkType> = Extract<StreamChunk, { type: T }>;

/** The one control message: the run's end transition writes it, nobody else. */
export const StreamEnd = z.object({
  type: z.literal('stream_end'),
  streamId: z.string(),
  timestamp: z.number(),
  finalOutput: z.unknown().optional(),
  /** Extension: how the run ended. */
  status: z.enum(['completed', 'failed', 'interrupted', 'aborted']).optional(),
});
export type StreamEnd = z.infer<typeof StreamEnd>;

export const StreamMessageSchema = z.union([StreamChunkSchema, StreamEnd]);
export type StreamMessage = z.infer<typeof StreamMessageSchema>;

export function isStreamEnd(message: StreamMessage): message is StreamEnd {
  return message.type === 'stream_end';
}

/** One numbered item of a session's log. */
export interface LogEntry {
  /** 1-based, monotonic over the whole session; gaps may appear. */
  sequence: number;
  /** Who wrote it: `m<step>` the model step, `t:<toolCallId>` a tool, empty the store itself. */
  writer: string;
  message: StreamMessage;
}
