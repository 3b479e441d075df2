import { z } from 'zod';

/** What cut a reply off: a stop of either mode, or a failure. */
export const Interruption = z.enum(['interrupt', 'abort', 'failure']);
export type Interruption = z.infer<typeof Interruption>;
