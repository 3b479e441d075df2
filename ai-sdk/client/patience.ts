import { retryDelay, sleep } from '../../protocol/time.js';
import { ChatRequestError, isNetworkError } from './errors.js';

/** Limits within which a page keeps trying. */
export interface Patience {
  /** Duration without success after which the page gives up, ms. */
  giveUpAfterMs: number;
  /** Silence that breaks a connection, ms; servers send a byte every 5 s (`keepAliveMs`). */
  longestSilenceMs: number;
  /** Returns the wait before try number `attempt`, which starts at 0, in ms. */
  retryDelayMs: (attempt: number) => number;
  /**
   * Called with false when a request or reply cannot reach the server, and with true when it
   * answers again; not called after the last try, when the chat has an error.
   */
  onConnectionChange?: ((isConnected: boolean) => void) | undefined;
}

/** The first wait is at least 0.2 s; jitter keeps pages that lost one server apart. */
const RETRY = { firstMs: 250, mostMs: 3_000, jitter: 0.2 };

/** Adds defaults: 2 min in total, a silence of two missing keep-alives, waits from 0.2 to 3 s. */
export function toPatience({
  giveUpAfterMs = 120_000,
  longestSilenceMs = 12_000,
  retryDelayMs = (attempt) => retryDelay({ attempt: attempt + 1, ...RETRY }),
  onConnectionChange,
}: Partial<Patience>): Patience {
  return { giveUpAfterMs, longestSilenceMs, retryDelayMs, onConnectionChange };
}

/** Counts the tries of one operation until it succeeds or time is up. Reports lost connections. */
export class Retries {
  readonly #patience: Patience;
  #tries = 0;
  #since: number | undefined;
  #isLost = false;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /** Records that the last try succeeded. */
  reset(): void {
    this.#tries = 0;
    this.#since = undefined;
    this.connected();
  }

  /** Records that the server answered; success needs something to arrive over the connection. */
  connected(): void {
    this.#report(false);
  }

  /** Waits until the next try is due. @throws the given error when time is up */
  async next(error: unknown, signal: AbortSignal | undefined): Promise<void> {
    const now = Date.now();
    this.#since ??= now;
    const { giveUpAfterMs, retryDelayMs } = this.#patience;
    if (now - this.#since >= giveUpAfterMs) throw error;
    this.#report(true);
    await pause(retryDelayMs(this.#tries), signal).catch((reason: unknown) => {
      this.connected();
      throw reason;
    });
    this.#tries += 1;
  }

  #report(isLost: boolean): void {
    if (this.#isLost === isLost) return;
    this.#isLost = isLost;
    this.#patience.onConnectionChange?.(!isLost);
  }
}

/**
 * Repeats an attempt while its failure may be temporary. An operation that has worked before may
 * also get a 500 without a code from a proxy (Vite's, Next's) whose server is away.
 *
 * @throws the last attempt's error: a refusal at once, a network failure when time is up
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  retries: Retries,
  signal: AbortSignal | undefined,
  hasWorked = false,
): Promise<T> {
  for (;;) {
    try {
      const result = await attempt();
      retries.connected();
      return result;
    } catch (error) {
      // The page no longer waits, so no success will be reported.
      if (signal?.aborted === true) retries.connected();
      signal?.throwIfAborted();
      if (!mayPass(error, hasWorked)) throw error;
      await retries.next(error, signal);
    }
  }
}

/** Returns true for a failure after which the same request may soon succeed. */
export function mayPass(error: unknown, hasWorked: boolean): boolean {
  if (!(error instanceof ChatRequestError)) return isNetworkError(error);
  return error.isPassing || (hasWorked && error.statusCode === 500 && error.code === undefined);
}

/** Resolves after `ms`. @throws the signal's reason */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, signal);
  signal?.throwIfAborted();
}
