import { z } from 'zod';
import { CHUNK_TYPES, StreamChunkSchema, type LogEntry, type StreamEnd } from './chunk.js';
import { HelixError } from './errors.js';

/** A stream in the form for external readers: events over SSE; see PROTOCOL.md#wire-events. */
const count = z.int().nonnegative();

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
  truncatedAtStep: count,
  atSequence: count.optional(),
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

const about = {
  /** The conversation's call that the sub-agent works for, perhaps through other agents. */
  callId: z.string(),
  /** Session of the sub-agent, which distinguishes two that write in turn. */
  agentId: z.string(),
  agent: z.string(),
};

const ToolState = z.enum(['running', 'done', 'failed']);

/** An act of a sub-agent, by the conversation's call that it works for. */
export const SubAgentEvent = z
  .discriminatedUnion('kind', [
    z.object({ ...about, kind: z.literal('text'), delta: z.string() }),
    z.object({
      ...about,
      kind: z.literal('tool'),
      toolCallId: z.string(),
      toolName: z.string(),
      state: ToolState,
    }),
    /** A step begins; `discarded` withdraws everything after it. */
    z.object({ ...about, kind: z.literal('step') }),
    z.object({ ...about, kind: z.literal('discarded') }),
  ])
  .meta({ id: 'SubAgentEvent' });
export type SubAgentEvent = z.infer<typeof SubAgentEvent>;

/** Body of `GET /api/chat/:sessionId/sub-agents/:toolCallId`: the newest events, oldest first. */
export const SubAgentReport = z.object({ events: z.array(SubAgentEvent) });
export type SubAgentReport = z.infer<typeof SubAgentReport>;
