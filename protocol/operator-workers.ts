import { z } from 'zod';

/** What workers take from Temporal. */
export const WORK_KINDS = ['runs', 'steps', 'tools'] as const;

/** A process that asks Temporal for work. */
export const OperatorWorker = z
  .object({
    /** As Temporal shows it: process id and host, unless the worker was given a name. */
    identity: z.string(),
    takes: z.array(z.enum(WORK_KINDS)),
    /** When it asked last, ms since the epoch by Temporal's clock. */
    lastPollAt: z.number(),
  })
  .meta({ id: 'OperatorWorker' });
export type OperatorWorker = z.infer<typeof OperatorWorker>;

/** The lease of a worker, by which others see that it lives. */
export const OperatorLease = z
  .object({
    id: z.string(),
    /** `lapsed` and `ended`: another worker takes over what it held. */
    state: z.enum(['held', 'lapsed', 'ended']),
    /** Attempts in progress under it. */
    attempts: z.number(),
  })
  .meta({ id: 'OperatorLease' });
export type OperatorLease = z.infer<typeof OperatorLease>;

/** Body of `GET /api/operator/workers`. */
export const OperatorWorkers = z.object({
  taskQueue: z.string(),
  workers: z.array(OperatorWorker),
  /** At most 200; absent where workers hold none. */
  leases: z.array(OperatorLease).optional(),
});
export type OperatorWorkers = z.infer<typeof OperatorWorkers>;
