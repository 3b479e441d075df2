import { z } from 'zod';
import { ApprovalResponse, ClientToolResult } from './answers.js';
import { listOf, SessionId, StartAt } from './http.js';
import { LIMITS } from './limits.js';
import { PendingQuestion, RunError } from './replies.js';
import { PostedPart, ProviderMetadata, UserDataPart, UserPart } from './rows.js';
import { RUN_STATUSES, STREAM_STATUSES } from './run.js';
import { CHUNK_TYPES, StreamChunkSchema, Usage, type LogEntry, type StreamEnd } from './chunk.js';
import { HelixError } from './errors.js';

/** The agent-server API: bodies as sent by agent clients and remote parents, and its replies. */

const id = z.string().min(1).max(LIMITS.idChars);

/** An object from outside; its members are checked where they are used. */
const AnyRecord = z
  .unknown()
  .refine(isRecord, 'expected an object')
  .meta({ type: 'object', additionalProperties: {} }) as unknown as z.ZodType<
  Record<string, unknown>
>;

function isRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A page's own part; its position in the list stands for `at`. */
const DataPart = UserDataPart.omit({ at: true });

const inputFields = {
  role: z.literal('user').optional(),
  /** Accepted once per session. Default: a new id. */
  id: id.optional(),
  content: z.string().optional(),
  metadata: AnyRecord.optional(),
};

const hasContent = ({ content, parts }: { content?: unknown; parts?: unknown[] | undefined }) =>
  (content ?? '') !== '' || (parts ?? []).length > 0;
const HAS_CONTENT = { message: 'content or parts is required' };

/** A user message as programs send it over HTTP. */
const PostedInput = z
  .object({
    ...inputFields,
    parts: listOf(z.union([PostedPart, DataPart]), LIMITS.jsonValues).optional(),
  })
  .refine(hasContent, HAS_CONTENT);

/** A user message of a program in this process, which may set options of the model's provider. */
export const UserInputMessage = z
  .object({
    ...inputFields,
    parts: listOf(z.union([UserPart, DataPart]), LIMITS.jsonValues).optional(),
    providerOptions: ProviderMetadata.optional(),
  })
  .refine(hasContent, HAS_CONTENT);
export type UserInputMessage = z.infer<typeof UserInputMessage>;

const PostedInputs = listOf(PostedInput, LIMITS.newMessages).refine(
  (messages) => messages.length > 0,
  { message: 'a message is required' },
);

const messageInput = z.union([z.string().min(1), PostedInput, PostedInputs]);

export const StartAgentBody = z
  .object({
    /** Default: a new session. */
    sessionId: SessionId.optional(),
    agent: z.string().optional(),
    /** The same as `agent`. */
    agentType: z.string().optional(),
    message: messageInput.optional(),
    /** The same as `message`. */
    input: messageInput.optional(),
    /** Id for a plain text; a request repeated with it refers to the same run. */
    messageId: id.optional(),
    state: AnyRecord.optional(),
    metadata: AnyRecord.optional(),
    /** Start time; the run and its conversation wait for it. Default: now. */
    startAt: StartAt.optional(),
  })
  .refine(({ message, input }) => message !== undefined || input !== undefined, {
    message: 'message is required',
    path: ['message'],
  });
export type StartAgentBody = z.infer<typeof StartAgentBody>;

/** Reply of `/agent/start` and `/agent/resume`. */
export const AgentStarted = z.object({
  sessionId: z.string(),
  streamId: z.string(),
  runId: z.string(),
});
export type AgentStarted = z.infer<typeof AgentStarted>;

export const ResumeAgentBody = z.object({
  sessionId: SessionId,
  mode: z
    .enum(['continue', 'with_message', 'with_confirmation', 'from_checkpoint', 'retry'])
    .optional(),
  message: z.string().min(1).optional(),
  checkpointId: id.optional(),
  /** For `retry`: a message of the turn to repeat. Default: the newest turn. */
  messageId: id.optional(),
});
export type ResumeAgentBody = z.infer<typeof ResumeAgentBody>;

const Decision = ApprovalResponse.extend({ sessionId: SessionId });

/** An answer as programs send it. Without a kind it is a client tool's result, or else a decision. */
export const SubmitToolResultBody = z.union([
  Decision,
  ClientToolResult.safeExtend({ sessionId: SessionId }),
  Decision.extend({ kind: Decision.shape.kind.default('approval-response') }),
]);
export type SubmitToolResultBody = z.infer<typeof SubmitToolResultBody>;

export const ToolResultTaken = z.object({
  sessionId: z.string(),
  toolCallId: z.string(),
  /** True if this was the last answer that the run waited for. */
  resumed: z.boolean(),
});
export type ToolResultTaken = z.infer<typeof ToolResultTaken>;

export const AgentTarget = z.object({ sessionId: SessionId });

/** The session to follow and the position to start from; `Last-Event-ID` takes precedence. */
export const AgentEventsQuery = AgentTarget.extend({ fromSequence: z.string().optional() });

const count = z.number();

/** Reply of `GET /agent/status`: the state of the session's newest run. */
export const AgentStatus = z
  .object({
    sessionId: z.string(),
    agent: z.string(),
    run: z.object({
      runId: z.string(),
      turn: count,
      status: z.enum(RUN_STATUSES),
      stepCount: count,
      startedAt: count,
      /** `provider` is retried, `agent` is paused, or `start`: the run waits for `startAt`. */
      waitingFor: z.enum(['provider', 'agent', 'start']).optional(),
      /** Present while the run waits for its start, ms since the epoch. */
      startAt: count.optional(),
      usage: Usage.extend({ costMicroUsd: count.optional() }).optional(),
    }),
    status: z.enum(RUN_STATUSES),
    stream: z.enum(STREAM_STATUSES),
    latestSequence: count,
    messageId: z.string(),
    turnStartSequence: count,
    /** Sequence of the newest pause, or the one before the turn if it has not paused. */
    pauseSequence: count,
    pending: z.array(
      PendingQuestion.pick({
        toolCallId: true,
        toolName: true,
        kind: true,
        input: true,
        approvalId: true,
        inputHash: true,
        deadline: true,
        mayDecide: true,
      }).extend({ runId: z.string() }),
    ),
    text: z.string(),
    error: RunError.optional(),
    /** The structured result, once it exists. */
    output: z.unknown().optional(),
  })
  .meta({ id: 'AgentStatus' });
export type AgentStatus = z.infer<typeof AgentStatus>;

export const StopAgentBody = z.object({
  sessionId: SessionId,
  /** The run to stop. Default: the newest. */
  runId: z.string().min(1).optional(),
  reason: z.string().max(LIMITS.errorTextBytes).optional(),
});
export type StopAgentBody = z.infer<typeof StopAgentBody>;

/** A stream in the form for external readers: events over SSE; see PROTOCOL.md#wire-events. */
const position = z.int().nonnegative();

export const StreamChunkEvent = z.object({
  type: z.literal('chunk'),
  chunk: StreamChunkSchema,
  sequence: z.int().positive().optional(),
});
export type StreamChunkEvent = z.infer<typeof StreamChunkEvent>;

export const StreamEndEvent = z.object({
  type: z.literal('end'),
  finalOutput: z.unknown().optional(),
});
export type StreamEndEvent = z.infer<typeof StreamEndEvent>;

export const StreamFailEvent = z.object({
  type: z.literal('fail'),
  error: z.string(),
});
export type StreamFailEvent = z.infer<typeof StreamFailEvent>;

export const StreamStatusEvent = z.object({
  type: z.literal('status'),
  status: z.enum(['paused', 'active']),
});
export type StreamStatusEvent = z.infer<typeof StreamStatusEvent>;

export const StreamTruncatedEvent = z.object({
  type: z.literal('truncated'),
  truncatedAtStep: position,
  atSequence: position.optional(),
});
export type StreamTruncatedEvent = z.infer<typeof StreamTruncatedEvent>;

export const StreamEvent = z.discriminatedUnion('type', [
  StreamChunkEvent,
  StreamEndEvent,
  StreamFailEvent,
  StreamStatusEvent,
  StreamTruncatedEvent,
]);
export type StreamEvent = z.infer<typeof StreamEvent>;

/** An event and its SSE id; a reader of it has everything up to that sequence. */
export interface WireEvent {
  id?: number;
  event: StreamEvent;
}

/**
 * Converts a log entry to events; none for internal entries. The last event carries the id, so that
 * a reader whose connection drops between two gets both again. Pure.
 */
export function toWireEvents(entry: LogEntry): WireEvent[] {
  const events = eventsOf(entry);
  return events.map((event, at) =>
    at === events.length - 1 ? { id: entry.sequence, event } : { event },
  );
}

function eventsOf({ sequence, writer, message }: LogEntry): StreamEvent[] {
  switch (message.type) {
    case 'stream_end':
      return [endOf(message)];
    case 'stream_status':
      return [{ type: 'status', status: message.status }];
    case 'stream_truncated': {
      const { truncatedAtStep, atSequence } = message;
      return [{ type: 'truncated', truncatedAtStep, atSequence }];
    }
    case 'suspension_marker':
      return [];
    case 'run_paused':
    case 'run_resumed': {
      const event: StreamEvent = { type: 'chunk', chunk: message, sequence };
      // An entry of the store itself concerns the run and its stream; others concern a sub-agent.
      if (writer !== '') return [event];
      const status = message.type === 'run_paused' ? 'paused' : 'active';
      return [event, { type: 'status', status }];
    }
    default:
      return [{ type: 'chunk', chunk: message, sequence }];
  }
}

function endOf({ status, error, finalOutput }: StreamEnd): StreamEndEvent | StreamFailEvent {
  if (status === 'failed') return { type: 'fail', error: error ?? 'The run failed.' };
  if (status === 'aborted') return { type: 'fail', error: error ?? 'The run was aborted.' };
  return { type: 'end', finalOutput };
}

/** JSON does not escape these characters, and some readers treat them as line ends. */
const LINE_BREAKS = /[\u0085\u2028\u2029]/g;

/** Formats an event as SSE text, whose data is always one line. Pure. */
export function formatWireEvent({ id, event }: WireEvent): string {
  const data = JSON.stringify(event).replace(
    LINE_BREAKS,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${id === undefined ? '' : `id: ${String(id)}\n`}data: ${data}\n\n`;
}

const EVENT_TYPES: ReadonlySet<string> = new Set(
  StreamEvent.options.map((option) => option.shape.type.value),
);

/**
 * Parses the data of an SSE event; undefined for a type of event or chunk that this version does
 * not know. @throws HelixError `validation_error`
 */
export function parseStreamEvent(data: string): StreamEvent | undefined {
  const value = parseJson(data);
  const type = typeOf(value);
  if (type === undefined) throw malformed('It has no type.');
  if (!EVENT_TYPES.has(type)) return undefined;
  if (type === 'chunk') {
    const chunkType = typeOf((value as { chunk?: unknown }).chunk);
    if (chunkType !== undefined && !CHUNK_TYPES.has(chunkType)) return undefined;
  }
  const checked = StreamEvent.safeParse(value);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw malformed(`${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? ''}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed('It is not JSON.', error);
  }
}

function typeOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  return typeof value.type === 'string' ? value.type : undefined;
}

function malformed(reason: string, cause?: unknown): HelixError {
  return new HelixError('validation_error', 'This is not a stream event.', {
    detail: { reason },
    cause,
  });
}
