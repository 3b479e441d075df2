import { z } from 'zod';
import { LIMITS } from './limits.js';

/**
 * When a run is to start: ms since the epoch, or ISO 8601 with its offset from UTC. A time that has
 * passed is now. Parsed as ms.
 */
export const StartAt = z
  .union([
    z.number().int().min(0),
    z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
  ])
  .refine((at) => at <= Date.now() + LIMITS.startAheadMs, {
    message: 'a run starts at most a year from now',
  });
export type StartAt = z.input<typeof StartAt>;
