import { retryDelay } from './retry-delay.js';

export interface RecoverySteps {
  /** One try to bring the page in line with the server. Throws if the server cannot be reached. */
  catchUp(signal: AbortSignal): Promise<void>;
  /** Waits, and goes on waiting while nobody looks at the page. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  onChange(running: boolean): void;
  now?: () => number;
}

const CALM_MS = 10_000;

/**
 * Keeps trying until the page and the server agree again. A response that breaks while it is being
 * taken up asks for another round, so there is never more than one loop.
 */
export class Recovery {
  readonly #steps: RecoverySteps;
  #controller = new AbortController();
  #running = false;
  #again = false;
  #attempt = 0;
  #lastTry = -Infinity;

  constructor(steps: RecoverySteps) {
    this.#steps = steps;
  }

  get running(): boolean {
    return this.#running;
  }

  start(): void {
    this.#again = true;
    if (this.#running) return;
    this.#running = true;
    this.#controller = new AbortController();
    this.#steps.onChange(true);
    void this.#loop(this.#controller.signal);
  }

  /** A response came to its end: the next break starts with a short wait. */
  settled(): void {
    this.#attempt = 0;
  }

  stop(): void {
    this.#controller.abort();
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const isOver = (): boolean => signal.aborted;
    while (this.#again && !isOver()) {
      if (this.#now() - this.#lastTry > CALM_MS) this.#attempt = 0;
      await this.#steps.pause(retryDelay(this.#attempt++), signal);
      if (isOver()) break;
      this.#again = false;
      this.#lastTry = this.#now();
      try {
        await this.#steps.catchUp(signal);
      } catch {
        this.#again = true;
      }
    }
    this.#running = false;
    this.#steps.onChange(false);
  }

  #now(): number {
    return (this.#steps.now ?? Date.now)();
  }
}
