import { z } from 'zod';

/** Requests and replies of `/api/operator/receivers`. */

/** Who is notified; without addresses and secrets. */
export const OperatorReceivers = z.object({
  receivers: z.array(
    z.object({
      name: z.string(),
      kind: z.enum(['webhook', 'slack', 'mail']),
      escalation: z.boolean(),
    }),
  ),
});
export type OperatorReceivers = z.infer<typeof OperatorReceivers>;

export const OperatorReceiverPath = z.object({ receiver: z.string().min(1).max(40) });

/** Body of `POST /api/operator/receivers/:receiver/test`. */
export const ReceiverTestReply = z.object({
  status: z.enum(['delivered', 'failed']),
  /** Why it was not taken. */
  problem: z.string().optional(),
});
export type ReceiverTestReply = z.infer<typeof ReceiverTestReply>;
