/** The time by which runs of a process wait. Tests have one of their own, which they advance. */
export interface Clock {
  /** ms since the epoch. */
  now: () => number;
  /** Calls once after a time, ms; the returned function cancels it. */
  after: (ms: number, call: () => void) => () => void;
}

/** Timers of Node fire at once beyond this, ms. */
const LONGEST_MS = 2 ** 31 - 1;

/** The machine's. */
export const systemClock: Clock = {
  now: Date.now,
  after: (ms, call) => {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      timer = setTimeout(
        () => {
          if (leftMs > LONGEST_MS) wait(leftMs - LONGEST_MS);
          else call();
        },
        Math.min(leftMs, LONGEST_MS),
      );
    };
    wait(ms);
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Resolves after a time by this clock, or early when the signal fires. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
