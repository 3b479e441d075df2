import { setMaxListeners } from 'node:events';

/**
 * Returns wall-clock ms with microsecond digits. Comparable between processes of one machine, so a latency is
 * the difference of two processes' times.
 */
export function wallClock(): number {
  return performance.timeOrigin + performance.now();
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Polls until something is found; returns undefined when the time is up. */
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

/** Creates a controller that a thousand readers may listen to. */
export function createLeave(): AbortController {
  const leave = new AbortController();
  setMaxListeners(0, leave.signal);
  return leave;
}
