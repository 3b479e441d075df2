import type { StopRequest } from '../../protocol/run.js';

/** The stop record of a run that is interrupted by a message. */
export function interruptBy({ by }: { by?: string }): StopRequest {
  return { mode: 'interrupt', reason: 'new_message', by };
}
