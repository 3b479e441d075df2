import { z } from 'zod';

/** Who decided about a call, beside the decision that its message has. */
export const CallDecision = z
  .object({
    toolCallId: z.string(),
    approved: z.boolean(),
    by: z.string().optional(),
    /** ms since the epoch by the store's clock. */
    at: z.number(),
    /** True if no person decided, or none in time. */
    automatic: z.boolean().optional(),
  })
  .meta({ id: 'CallDecision' });
export type CallDecision = z.infer<typeof CallDecision>;
