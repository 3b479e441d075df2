import { formatWhen } from './format-when.js';

/** Until when a question can be answered, where the time left does not count down. Pure. */
export function describeDeadline(deadline: number | undefined, now = Date.now()): string {
  if (deadline === undefined) return 'waits until it is answered';
  return deadline <= now ? 'The time is over.' : `until ${formatWhen(deadline, now)}`;
}
