/** Timers for every side of the wire: they need neither Node nor a page. */

/** Resolves after a time, or early when the signal fires: the caller checks the signal. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted === true) done();
  });
}

/** Returns the back-off before the next try, in whole ms; it grows up to the longest delay. */
export function retryDelay(input: {
  attempt: number;
  /** The delay after the first try, ms. */
  firstMs: number;
  mostMs: number;
  /** Growth from one delay to the next. Default: 2. */
  factor?: number;
  /**
   * Random share of the delay, from 0 to 1, so that clients which lost one server do not return at
   * once. Default: 0.
   */
  jitter?: number;
  /** Source of numbers from 0 to 1. Default: `Math.random`. */
  random?: () => number;
}): number {
  const { attempt, firstMs, mostMs, factor = 2, jitter = 0, random = Math.random } = input;
  const delayMs = Math.min(firstMs * factor ** (attempt - 1), mostMs);
  return Math.round(jitter === 0 ? delayMs : delayMs * (1 - jitter + jitter * random()));
}

export interface TimeoutOptions {
  /** Creates the error of late work. Default: an Error with the time. */
  late?: () => Error;
  /** Ends the wait early, with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * Waits for work up to a time limit. The work itself goes on.
 *
 * @throws the error of `late` when the time is over; the signal's reason; errors of the work
 */
export function withTimeout<T>(
  ms: number,
  work: Promise<T>,
  { late, signal }: TimeoutOptions = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      end();
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      end();
      reject(late?.() ?? new Error(`no answer within ${String(ms)} ms`));
    }, ms);
    signal?.addEventListener('abort', abort);
    work.finally(end).then(resolve, reject);
    if (signal?.aborted === true) abort();
  });
}

/**
 * Creates a signal that fires after a time, or with the first of the signals. Its timer keeps it
 * alive: Node 20 may collect an `AbortSignal.timeout` within `AbortSignal.any` before it fires.
 */
export function endsWithin(ms: number, ...signals: AbortSignal[]): AbortSignal {
  const over = new AbortController();
  const late = (): void => {
    over.abort(new DOMException(`not done within ${String(ms)} ms`, 'TimeoutError'));
  };
  const timer: unknown = setTimeout(late, ms);
  // The timer does not keep a Node process alive.
  (timer as { unref?: () => void }).unref?.();
  return AbortSignal.any([...signals, over.signal]);
}

/** The clock of another machine, read once. All times are ms since the epoch. */
export interface ClockReading {
  at: number;
  askedAt: number;
  repliedAt: number;
}
