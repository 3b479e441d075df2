import { z } from 'zod';

const count = z.int().nonnegative();

/** Control message: the end of a run or stream; its end transition writes it, nobody else. */
export const StreamEnd = z.object({
  type: z.literal('stream_end'),
  streamId: z.string(),
  timestamp: z.number(),
  finalOutput: z.unknown().optional(),
  /** Extension: how it ended. */
  status: z.enum(['completed', 'failed', 'interrupted', 'aborted']).optional(),
  /** Extension: why it failed; safe to show. */
  error: z.string().optional(),
});
export type StreamEnd = z.infer<typeof StreamEnd>;

/** Control message (extension): a stream that no run owns was paused or goes on. */
export const StreamStatusChange = z.object({
  type: z.literal('stream_status'),
  streamId: z.string(),
  timestamp: z.number(),
  status: z.enum(['paused', 'active']),
});
export type StreamStatusChange = z.infer<typeof StreamStatusChange>;

/** Control message (extension): chunks of later steps were removed from the log. */
export const StreamTruncated = z.object({
  type: z.literal('stream_truncated'),
  streamId: z.string(),
  timestamp: z.number(),
  /** Chunks of steps above this were removed. */
  truncatedAtStep: count,
  /** The stream's highest sequence at that moment. */
  atSequence: count,
  /** Sequence of the last removed chunk: readers that started behind it have lost nothing. */
  lastRemoved: count,
});
export type StreamTruncated = z.infer<typeof StreamTruncated>;

/** What tells of the stream itself; readers act on it and do not hand it out. */
export const ControlMessage = z.discriminatedUnion('type', [
  StreamEnd,
  StreamStatusChange,
  StreamTruncated,
]);
export type ControlMessage = z.infer<typeof ControlMessage>;
