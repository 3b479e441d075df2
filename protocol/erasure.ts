import { z } from 'zod';
import { LIMITS } from './limits.js';

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

/** Path parameters of routes for one person: the user id, as in tokens. */
export const PersonPath = z.object({ userId: z.string().min(1).max(LIMITS.idChars) });
export type PersonPath = z.infer<typeof PersonPath>;

/** Body of `DELETE /api/operator/users/:userId`. */
export const PersonErasureReply = z
  .object({
    /** False while conversations or workflows are left: the request is sent again. */
    complete: z.boolean(),
    /** Conversations that this request has erased, and what was in them. */
    conversations: z.number(),
    sessions: z.number(),
    workflows: z.number(),
    rows: z.number(),
    entries: z.number(),
    bytes: z.number(),
  })
  .meta({ id: 'PersonErasure' });
export type PersonErasureReply = z.infer<typeof PersonErasureReply>;
