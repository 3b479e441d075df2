import { NotDelivered } from './not-delivered.js';

/** How much one receiver, and all together, take in one process. */
export interface LaneLimits {
  /** Attempts at once to one receiver. */
  atOnce: number;
  /** Attempts that wait for those; more are sent back. */
  waiting: number;
  /** Least time between the beginnings of two attempts to one receiver, ms. */
  paceMs: number;
}

interface Lane {
  active: number;
  waiting: (() => void)[];
  next: number;
}

/**
 * Lets few attempts to one receiver happen at once, so that one which hangs holds up neither the
 * others nor the process.
 *
 * @returns runs the work in its turn. @throws NotDelivered `busy` if too many wait
 */
export function createLanes(
  limits: LaneLimits,
): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  // As many as there are receivers: one that is idle keeps its pace.
  const lanes = new Map<string, Lane>();
  return async (name, work) => {
    const lane = lanes.get(name) ?? { active: 0, waiting: [], next: 0 };
    lanes.set(name, lane);
    if (lane.active >= limits.atOnce) {
      if (lane.waiting.length >= limits.waiting) throw busy();
      await new Promise<void>((resolve) => lane.waiting.push(resolve));
    } else lane.active += 1;
    try {
      const now = Date.now();
      const at = Math.max(lane.next, now);
      lane.next = at + limits.paceMs;
      if (at > now) await new Promise((resolve) => setTimeout(resolve, at - now));
      return await work();
    } finally {
      const next = lane.waiting.shift();
      // The place goes to the one that has waited longest.
      if (next === undefined) lane.active -= 1;
      else next();
    }
  };
}

function busy(): NotDelivered {
  const retryAfterMs = 5_000 + Math.round(Math.random() * 10_000);
  return new NotDelivered('busy', 'Too much is being sent to this receiver.', { retryAfterMs });
}
