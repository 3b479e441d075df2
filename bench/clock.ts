import { setMaxListeners } from 'node:events';

/**
 * Wall-clock milliseconds with microseconds behind the point. Comparable between the processes of
 * one machine, which is what every latency here is: a time taken in one minus a time taken in another.
 */
export function wallClock(): number {
  return performance.timeOrigin + performance.now();
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Looks until there is something; undefined when the time is over. */
export async function untilFound<T>(
  look: () => Promise<T | undefined>,
  { withinMs = Infinity, everyMs }: { withinMs?: number; everyMs: number },
): Promise<T | undefined> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined || Date.now() > giveUpAt) return found;
    await sleep(everyMs);
  }
}

/** Ends what a thousand readers do. */
export function createLeave(): AbortController {
  const leave = new AbortController();
  setMaxListeners(0, leave.signal);
  return leave;
}
