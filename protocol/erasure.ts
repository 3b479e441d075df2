import { z } from 'zod';

/** Requests and replies of erasures. */

/** `DELETE /api/chat/:sessionId`: with the receipt, or without a body. */
export const EraseQuery = z.object({ receipt: z.enum(['true', 'false']).optional() });
export type EraseQuery = z.infer<typeof EraseQuery>;

/** What an erasure has removed. */
export const ErasureReply = z
  .object({
    sessionId: z.string(),
    /** ms since the epoch. */
    at: z.number(),
    by: z.string().optional(),
    /** False while Temporal has not deleted all workflows; the workers complete it. */
    complete: z.boolean(),
    /** The conversation and its sub-agents. */
    sessions: z.number(),
    /** Workflows that were deleted in Temporal. */
    workflows: z.number(),
    /** Rows of the transcript, entries of the stream, and bytes of text. */
    rows: z.number(),
    entries: z.number(),
    bytes: z.number(),
  })
  .meta({ id: 'Erasure' });
export type ErasureReply = z.infer<typeof ErasureReply>;
