import { z } from 'zod';
import { StreamChunkSchema, type LogEntry } from './chunk.js';
import type { StreamEnd } from './control-message.js';

/** A stream as external readers see it: events over SSE; see PROTOCOL.md#wire-events. */
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
  /** Safe to show. */
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
  /** Chunks of steps above this were removed. */
  truncatedAtStep: count,
  /** The stream's highest sequence at that moment. */
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

/** An event and its SSE id: a reader of it has everything up to that sequence. */
export interface WireEvent {
  id?: number;
  event: StreamEvent;
}

/**
 * The events for a log entry; empty for internal entries. The last event carries the id, so that a
 * reader whose connection drops between two gets both again. Pure.
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
