import { z } from 'zod';
import { LIMITS } from './limits.js';
import { NOTICE_TYPES } from './notices.js';

/** Requests and replies of `/api/operator/deliveries` and `…/receivers`. Times are ms since the epoch. */

const STATUSES = ['running', 'delivered', 'failed'] as const;

/** A notice to one receiver. */
export const OperatorDelivery = z
  .object({
    id: z.string(),
    receiver: z.string(),
    type: z.enum(NOTICE_TYPES),
    status: z.enum(STATUSES),
    /** `webhook-id` at the receiver. */
    noticeId: z.string(),
    sessionId: z.string().optional(),
    runId: z.string().optional(),
    toolCallId: z.string().optional(),
    toolName: z.string().optional(),
    startedAt: z.number(),
    endedAt: z.number().optional(),
    /** Attempts so far of one that is running. */
    attempts: z.number().optional(),
    /** Why the newest attempt failed. */
    problem: z.string().optional(),
  })
  .meta({ id: 'OperatorDelivery' });
export type OperatorDelivery = z.infer<typeof OperatorDelivery>;

export const OperatorDeliveriesQuery = z.object({
  status: z.enum(STATUSES).optional(),
  limit: z.coerce.number().int().min(1).max(LIMITS.operatorPage).default(20),
});
export const OperatorDeliveries = z.object({ deliveries: z.array(OperatorDelivery) });
export type OperatorDeliveries = z.infer<typeof OperatorDeliveries>;

export const OperatorDeliveryPath = z.object({
  deliveryId: z.string().regex(/^d-[a-z0-9-]{1,100}$/),
});

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
