import { retryDelay, sleep } from '../../protocol/time.js';
import { ChatRequestError, isNetworkError } from './errors.js';

/** How long a page keeps trying. */
export interface Patience {
  /** ms without any success after which it gives up. */
  giveUpAfterMs: number;
  /** ms without a byte after which a connection counts as broken; servers send one every 5 s (`keepAliveMs`). */
  longestSilenceMs: number;
  /** ms to wait before try number `attempt`, from 0. */
  retryDelayMs: (attempt: number) => number;
  /**
   * Called with false when the server cannot be reached, of a request as of a reply that broke off, and with
   * true when it answers again. After the last try, when the chat has an error, it is not called.
   */
  onConnectionChange?: ((isConnected: boolean) => void) | undefined;
}

/** The first wait is 0.2 s at least; the spread keeps pages that lost one server apart. */
const RETRY = { firstMs: 250, mostMs: 3_000, jitter: 0.2 };

/** Defaults: two minutes, a silence of two missing keep-alives, and waits from 0.2 to 3 s. */
export function toPatience({
  giveUpAfterMs = 120_000,
  longestSilenceMs = 12_000,
  retryDelayMs = (attempt) => retryDelay({ attempt: attempt + 1, ...RETRY }),
  onConnectionChange,
}: Partial<Patience>): Patience {
  return { giveUpAfterMs, longestSilenceMs, retryDelayMs, onConnectionChange };
}

/** Repeated tries of one thing, until one succeeds or time is over. Reports lost connections to the page. */
export class Retries {
  readonly #patience: Patience;
  #tries = 0;
  #since: number | undefined;
  #isLost = false;

  constructor(patience: Patience) {
    this.#patience = patience;
  }

  /** The last try succeeded. */
  reset(): void {
    this.#tries = 0;
    this.#since = undefined;
    this.connected();
  }

  /** The server answered again; it is a success once something has come over the connection. */
  connected(): void {
    this.#report(false);
  }

  /** Waits for the time of the next try. @throws the given error when time is over */
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
 * Repeats an attempt while it fails in a way that may pass. What has worked before may also have a 500 of a
 * proxy, Vite's or Next's, whose server is away: it has no code.
 *
 * @throws what the last attempt threw: a refusal at once, a failure of the network when time is over
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
      // The page waits no longer, so no success will be reported.
      if (signal?.aborted === true) retries.connected();
      signal?.throwIfAborted();
      if (!mayPass(error) && !(hasWorked && isOfProxy(error))) throw error;
      await retries.next(error, signal);
    }
  }
}

function isOfProxy(error: unknown): boolean {
  return error instanceof ChatRequestError && error.statusCode === 500 && error.code === undefined;
}

function mayPass(error: unknown): boolean {
  return error instanceof ChatRequestError ? error.isPassing : isNetworkError(error);
}

/** Resolves after `ms`. @throws the signal's reason */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, signal);
  signal?.throwIfAborted();
}
