import { z } from 'zod';
import { Approvers } from './actor.js';
import { LIMITS } from './limits.js';

/** RFC 6901: empty for the whole state, or `/`-separated with `~` escaped as `~0`, `/` as `~1`. */
const JsonPointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)*$/, 'must be a JSON pointer');

/** RFC 6902. */
export const JSONPatchOperation = z
  .object({
    op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: JsonPointer,
    /** Required by `move` and `copy`. */
    from: JsonPointer.optional(),
    /** Required by `add`, `replace` and `test`. */
    value: z.unknown().optional(),
  })
  .refine(({ op, from }) => (op !== 'move' && op !== 'copy') || from !== undefined, {
    path: ['from'],
    message: 'is required by move and copy',
  })
  .refine(({ op, value }) => ['remove', 'move', 'copy'].includes(op) || value !== undefined, {
    path: ['value'],
    message: 'is required by add, replace and test',
  });
export type JSONPatchOperation = z.infer<typeof JSONPatchOperation>;

/** Cause of a cut-off reply: a stop of either mode, or a failure. */
export const Interruption = z.enum(['interrupt', 'abort', 'failure']);
export type Interruption = z.infer<typeof Interruption>;

/**
 * The chunks of the stream protocol; PROTOCOL.md is the normative text. Writers are strict, readers
 * skip unknown types. Field names are those of the Helix stream protocol (v7); fields marked
 * "extension" are additions, which readers may ignore.
 */
const id = z.string().min(1).max(LIMITS.idChars);
const count = z.int().nonnegative();
/** Refuses values that JSON would silently leave out, since readers rely on the field. */
const json = z
  .unknown()
  .refine((value) => !['undefined', 'function', 'symbol'].includes(typeof value), 'is no JSON');

const base = {
  /** Session id of the agent that writes; a sub-agent has its own. */
  agentId: id,
  agentType: id,
  timestamp: z.number(),
  /** 1-based in each turn; 0 before the first model call. */
  step: count,
};

export const BaseChunkSchema = z.object(base);

type Json = null | string | number | boolean | Json[] | JsonObject;
interface JsonObject {
  [key: string]: Json | undefined;
}

/** Metadata of a part, by provider. */
export type ShownMetadata = Record<string, JsonObject>;
const ShownMetadata = z.record(
  z.string(),
  z.record(z.string(), z.unknown()),
) as unknown as z.ZodType<ShownMetadata>;

/** Extensions of text and reasoning blocks. */
const ofBlock = {
  /**
   * Number of the block among the step's blocks of its kind, by order of beginning; set where
   * readers would assume another one. A numbered block stays open until it or its step ends.
   */
  block: z.int().positive().optional(),
  /** The newest value replaces earlier ones. */
  providerMetadata: ShownMetadata.optional(),
};

function chunk<T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) {
  return z.object({ type: z.literal(type), ...base, ...shape });
}

const ofCall = { toolCallId: id, toolName: id };

/** Extension of sources, files and calls. */
const ofPart = { providerMetadata: ShownMetadata.optional() };

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
  /** Part of the input: read from the provider's cache, and written to it. */
  cachedTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
  /** Extension: part of the output. */
  reasoningTokens: z.number().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** Cleans a token count: providers have reported NaN and null. Pure. */
export function toTokenCount(tokens: number | null | undefined): number | undefined {
  if (typeof tokens !== 'number' || !Number.isFinite(tokens)) return undefined;
  return Math.min(Math.max(0, Math.round(tokens)), 1_000_000_000);
}

export const SuspendedChildWaitPayload = z.object({
  subSessionId: id,
  subAgentType: id,
  callId: id,
});
export type SuspendedChildWaitPayload = z.infer<typeof SuspendedChildWaitPayload>;

/** Internal: reason for a pause, for followers of the log; never shown to clients. */
const SuspensionMarker = z.discriminatedUnion('kind', [
  chunk('suspension_marker', {
    kind: z.literal('suspended_client_tool'),
    payload: z.object({ toolCallIds: z.array(id) }),
  }),
  chunk('suspension_marker', {
    kind: z.literal('suspended_step_partial'),
    payload: z.object({ toolCallIds: z.array(id), stepId: id }),
  }),
  chunk('suspension_marker', {
    kind: z.literal('suspended_awaiting_children'),
    payload: z.object({ children: z.array(SuspendedChildWaitPayload) }),
  }),
]);

export const StreamChunkSchema = z.discriminatedUnion('type', [
  chunk('text_delta', {
    delta: z.string(),
    ...ofBlock,
    /** Extension: true if further text begins another block. */
    isComplete: z.boolean().optional(),
  }),
  chunk('thinking', { content: z.string(), isComplete: z.boolean(), ...ofBlock }),
  chunk('tool_arg_stream_start', {
    ...ofCall,
    /** Extension: pages execute the tool, and name the type of its part after it. */
    byClient: z.boolean().optional(),
  }),
  chunk('tool_arg_stream_delta', { toolCallId: id, delta: z.string() }),
  chunk('tool_arg_stream_end', { toolCallId: id }),
  chunk('tool_start', {
    ...ofCall,
    arguments: z.record(z.string(), z.unknown()),
    /** Extension: false or absent if the client executes the call. */
    providerExecuted: z.boolean().optional(),
    /** Extension: the provider of the model executes the call. */
    byProvider: z.boolean().optional(),
    /** Extension: see `tool_arg_stream_start`. */
    byClient: z.boolean().optional(),
    ...ofPart,
  }),
  chunk('tool_end', {
    ...ofCall,
    result: json,
    error: z.string().optional(),
    errorCode: z.string().optional(),
    providerExecuted: z.boolean().optional(),
    /** Extension: the result of a call that the provider of the model has executed. */
    byProvider: z.boolean().optional(),
    /** Extension: the outcome of a page's call, so that readers without its start know its part. */
    byClient: z.boolean().optional(),
    /** Extension, in the store only: the result is stored apart; readers get it in `result`. */
    resultRef: id.optional(),
  }),
  chunk('tool_input_error', {
    ...ofCall,
    error: z.string(),
    partialInput: z.unknown().optional(),
  }),
  /**
   * Extension: interim result of a call in progress, shown live only until the next one or the
   * result.
   */
  chunk('tool_output_preliminary', {
    ...ofCall,
    result: json,
    providerExecuted: z.boolean().optional(),
  }),
  chunk('tool_output_error', { ...ofCall, error: z.string() }),
  chunk('tool_approval_request', {
    ...ofCall,
    approvalId: z.string().min(1),
    input: json,
    isAutomatic: z.boolean().optional(),
    /** Extension: the tool's demands on the approver, if any. */
    approvers: Approvers.optional(),
    /** Extension, for readers only: false if this reader's approval would be refused. */
    mayDecide: z.boolean().optional(),
    ...ofPart,
  }),
  chunk('tool_approval_response', {
    ...ofCall,
    approvalId: z.string().min(1),
    approved: z.boolean(),
    reason: z.string().optional(),
    isAutomatic: z.boolean().optional(),
    /** Extension: the person who decided. */
    by: z.string().optional(),
    /** Extension: the input as changed by that person. */
    input: z.unknown().optional(),
  }),
  chunk('subagent_start', { subAgentType: id, subSessionId: id, callId: id }),
  chunk('subagent_end', {
    subAgentType: id,
    subSessionId: id,
    callId: id,
    result: json,
    /** Extension: error code of the sub-agent's failed run. */
    cause: id.optional(),
  }),
  chunk('custom', {
    eventName: id,
    data: json,
    /** Extension: shown live only, not stored in a message. */
    transient: z.boolean().optional(),
  }),
  chunk('state_patch', {
    patches: z.array(JSONPatchOperation),
    /** Extension, in the store only: JSON text of the patches that revert these. */
    undo: z.string().optional(),
  }),
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
  chunk('output', { output: json }),
  chunk('source_url', {
    sourceId: z.string(),
    url: z.string(),
    title: z.string().optional(),
    ...ofPart,
  }),
  chunk('source_document', {
    sourceId: z.string(),
    mediaType: z.string(),
    title: z.string(),
    filename: z.string().optional(),
    ...ofPart,
  }),
  chunk('step_start', {
    stepId: z.string().optional(),
    /** True if the questions join the newest step, where others are still open. */
    joins: z.boolean().optional(),
  }),
  chunk('step_end', {
    stepId: z.string().optional(),
    usage: Usage.optional(),
    finishReason: FinishReason.optional(),
    /** Extension: cause of a cut-off reply. */
    interrupted: Interruption.optional(),
  }),
  chunk('file', {
    url: z.string(),
    mediaType: z.string(),
    filename: z.string().optional(),
    ...ofPart,
  }),
  chunk('run_interrupted', {
    runId: z.string(),
    checkpointId: z.string().nullable(),
    reason: z.string().optional(),
  }),
  chunk('run_resumed', {
    runId: z.string(),
    fromCheckpointId: z.string().nullable(),
    fromStepCount: count,
    mode: z.string(),
  }),
  chunk('run_paused', {
    runId: z.string(),
    reason: z.string(),
    pendingToolName: z.string().optional(),
    pendingToolCallId: z.string().optional(),
    /** Extension: the earliest deadline of the pending calls, ms since the epoch. */
    deadline: z.number().optional(),
  }),
  /** Extension: first entry of a turn whose messages were queued, or to which a run was steered. */
  chunk('turn_started', {
    runId: z.string(),
    messageId: z.string(),
    /** The user messages that this reply answers. */
    messageIds: z.array(id),
    reason: z.string(),
  }),
  /** Extension: queued messages were added, changed or removed. */
  chunk('queue_changed', {
    queued: count,
    /** Ids of user messages that will not be answered. */
    removed: z.array(id).optional(),
  }),
  chunk('executor_superseded', { reason: z.string().optional() }),
  chunk('checkpoint_created', {
    runId: z.string(),
    checkpointId: z.string(),
    stepCount: count,
  }),
  chunk('step_committed', { runId: z.string(), stepId: z.string(), checkpointId: z.string() }),
  chunk('step_discarded', { runId: z.string(), stepId: z.string(), reason: z.string() }),
  chunk('stream_resync', {
    checkpointId: z.string(),
    stepCount: count,
    messageCount: count,
    fromSequence: count,
    reason: z.enum(['crash_recovery', 'rollback', 'branch', 'retry']),
    /** Extension: only chunks of this call are withdrawn. */
    toolCallId: id.optional(),
  }),
  SuspensionMarker,
]);
export type StreamChunk = z.infer<typeof StreamChunkSchema>;
export type ChunkType = StreamChunk['type'];
export type ChunkOf<T extends ChunkType> = Extract<StreamChunk, { type: T }>;

/** The types that this version knows; readers skip others. */
export const CHUNK_TYPES: ReadonlySet<string> = new Set<ChunkType>(
  StreamChunkSchema.options.map((option) =>
    'shape' in option ? option.shape.type.value : 'suspension_marker',
  ),
);

function control<T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) {
  const stream = { streamId: z.string(), timestamp: z.number() };
  return z.object({ type: z.literal(type), ...stream, ...shape });
}

/** Control message: the end of a run or stream. Only the change that ends it writes this. */
export const StreamEnd = control('stream_end', {
  finalOutput: z.unknown().optional(),
  /** Extension: the final status. */
  status: z.enum(['completed', 'failed', 'interrupted', 'aborted']).optional(),
  /** Extension: reason for the failure; safe to show. */
  error: z.string().optional(),
});
export type StreamEnd = z.infer<typeof StreamEnd>;

/** Control message (extension): a stream without a run was paused or resumed. */
export const StreamStatusChange = control('stream_status', {
  status: z.enum(['paused', 'active']),
});
export type StreamStatusChange = z.infer<typeof StreamStatusChange>;

/** Control message (extension): chunks of later steps were removed from the log. */
export const StreamTruncated = control('stream_truncated', {
  /** Chunks of steps above this were removed. */
  truncatedAtStep: count,
  /** The stream's highest sequence at that moment. */
  atSequence: count,
  /** Sequence of the last removed chunk; readers that started behind it have lost nothing. */
  lastRemoved: count,
});
export type StreamTruncated = z.infer<typeof StreamTruncated>;

/** Messages about the stream itself; readers act on them and do not return them. */
export const ControlMessage = z.discriminatedUnion('type', [
  StreamEnd,
  StreamStatusChange,
  StreamTruncated,
]);
export type ControlMessage = z.infer<typeof ControlMessage>;

export const StreamMessageSchema = z.union([StreamChunkSchema, ControlMessage]);
export type StreamMessage = z.infer<typeof StreamMessageSchema>;

export function isStreamEnd(message: { type: string }): message is StreamEnd {
  return message.type === 'stream_end';
}

/** One numbered item of a session's log. */
export interface LogEntry {
  /** 1-based, monotonic over the whole session; gaps may appear. */
  sequence: number;
  /** `m<step>` for a model step, `t:<toolCallId>` for a tool, empty for the store itself. */
  writer: string;
  message: StreamMessage;
}
