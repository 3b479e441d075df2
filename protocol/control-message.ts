import { z } from 'zod';

const count = z.int().nonnegative();

/** Control message: the end of a run or stream. Only the transition that ends it writes this. */
export const StreamEnd = z.object({
  type: z.literal('stream_end'),
  streamId: z.string(),
  timestamp: z.number(),
  finalOutput: z.unknown().optional(),
  /** Extension: the final status. */
  status: z.enum(['completed', 'failed', 'interrupted', 'aborted']).optional(),
  /** Extension: why it failed; safe to show. */
  error: z.string().optional(),
});
export type StreamEnd = z.infer<typeof StreamEnd>;

/** Control message (extension): a stream without a run was paused or resumed. */
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

/** Messages about the stream itself; readers act on them and do not return them. */
export const ControlMessage = z.discriminatedUnion('type', [
  StreamEnd,
  StreamStatusChange,
  StreamTruncated,
]);
export type ControlMessage = z.infer<typeof ControlMessage>;
