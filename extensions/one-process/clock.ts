/** Clock by which the runs of a process wait. Tests advance a clock of their own. */
export interface Clock {
  /** ms since the epoch. */
  now: () => number;
  /** Calls back once after `ms`; the returned function cancels it. */
  after: (ms: number, call: () => void) => () => void;
}

/** Node fires timers beyond this limit at once, ms. */
const MAX_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  after: (ms, call) => {
    let timer: NodeJS.Timeout;
    const wait = (leftMs: number): void => {
      timer = setTimeout(
        () => {
          if (leftMs > MAX_MS) wait(leftMs - MAX_MS);
          else call();
        },
        Math.min(leftMs, MAX_MS),
      );
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms` by this clock, if it is given, or as soon as the signal aborts. */
export function pause(clock: Clock, ms: number | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = ms === undefined ? () => undefined : clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
