import { z } from 'zod';
import { LIMITS } from './limits.js';

/**
 * When a run is to start: ms since the epoch, or ISO 8601 with its offset from UTC. A time that has
 * passed is now, one of more than a day ago is refused. Parsed as ms.
 */
export const StartAt = z
  .union([
    z.number().int().min(0),
    z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
  ])
  .refine((at) => at <= Date.now() + LIMITS.startAheadMs, {
    message: 'a run starts at most a year from now',
  })
  .refine((at) => at >= Date.now() - LIMITS.startAgoMs, {
    message: 'this time is more than a day ago; numbers are ms since 1970, not seconds',
  });
export type StartAt = z.input<typeof StartAt>;
