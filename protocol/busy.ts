import { z } from 'zod';

/**
 * What happens to a message that arrives while a run is active: it is refused, waits for its turn,
 * is read by the run's next step, or stops the run and is answered instead.
 */
export const BusyPolicy = z.enum(['reject', 'queue', 'steer', 'interrupt']);
export type BusyPolicy = z.infer<typeof BusyPolicy>;

/** How an accepted message waits. */
export type QueueMode = Exclude<BusyPolicy, 'reject'>;
