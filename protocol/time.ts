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

export interface RetryDelayOptions {
  /** Number of the try that failed, from 1. */
  attempt: number;
  /** The delay after the first try, ms. */
  firstMs: number;
  /** The longest delay, ms. */
  mostMs: number;
  /** Growth from one delay to the next. Default: 2. */
  factor?: number;
  /**
   * The share of the delay that is left to chance, from 0 to 1, so that clients which lost one server do
   * not return in one moment. Default: 0.
   */
  jitter?: number;
  /** From 0 to 1. Default: `Math.random`. */
  random?: () => number;
}

/** How long to wait before the next try, in whole ms: grows with every try, up to the longest delay. */
export function retryDelay({
  attempt,
  firstMs,
  mostMs,
  factor = 2,
  jitter = 0,
  random = Math.random,
}: RetryDelayOptions): number {
  const delayMs = Math.min(firstMs * factor ** (attempt - 1), mostMs);
  return Math.round(jitter === 0 ? delayMs : delayMs * (1 - jitter + jitter * random()));
}

export interface TimeoutOptions {
  /** Makes the error of work that is late. Default: an Error with the time. */
  late?: () => Error;
  /** Ends the wait early, with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * The result of work that has to be done within a time. The work itself is not ended.
 *
 * @throws what `late` makes when the time is over; the signal's reason; what the work throws
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
 * Fires after a time, or with the first of the signals. Its timer holds it: a time limit of `AbortSignal.timeout` within
 * `AbortSignal.any` never fires in Node 20 once it was collected as garbage.
 */
export function endsWithin(ms: number, ...signals: AbortSignal[]): AbortSignal {
  const over = new AbortController();
  const late = (): void => {
    over.abort(new DOMException(`not done within ${String(ms)} ms`, 'TimeoutError'));
  };
  const timer: unknown = setTimeout(late, ms);
  // A process in Node does not wait for it.
  (timer as { unref?: () => void }).unref?.();
  return AbortSignal.any([...signals, over.signal]);
}

/** The clock of another machine, read once. All times are ms since the epoch. */
export interface ClockReading {
  /** The time of the other clock. */
  at: number;
  /** This machine's clock when it was asked, and when the reply came. */
  askedAt: number;
  repliedAt: number;
}
