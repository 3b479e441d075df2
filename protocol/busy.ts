import { z } from 'zod';

/**
 * What becomes of a message that comes while a run is at work: it is refused, waits for its turn,
 * goes into the run's next step, or stops the run and is answered instead.
 */
export const BusyPolicy = z.enum(['reject', 'queue', 'steer', 'interrupt']);
export type BusyPolicy = z.infer<typeof BusyPolicy>;

/** How an accepted message waits. */
export type QueueMode = Exclude<BusyPolicy, 'reject'>;
