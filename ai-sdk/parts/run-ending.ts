import type { FinishReason, StreamChunk } from '../../protocol/chunk.js';
import type { StreamEnd } from '../../protocol/control-message.js';

/** How the run stands at the newest chunk: at work, paused, or over. */
export class RunEnding {
  /** `passed_on`: what the run says from here on is another message. */
  #state: 'paused' | 'passed_on' | StreamEnd['status'];
  #failure: string | undefined;
  #finishReason: FinishReason | undefined;

  accept(chunk: StreamChunk): void {
    switch (chunk.type) {
      case 'run_paused':
        this.#state = 'paused';
        break;
      case 'turn_started':
        this.#state = 'passed_on';
        break;
      case 'step_start':
      case 'run_resumed':
        // The run goes on: what looked like its end was none.
        this.#state = undefined;
        this.#failure = undefined;
        break;
      case 'step_end':
        this.#finishReason = chunk.finishReason;
        break;
      case 'error':
        if (!chunk.recoverable) this.#failure = chunk.error;
        break;
      default:
    }
  }

  end({ status }: StreamEnd): void {
    this.#state = status ?? 'completed';
  }

  get isPaused(): boolean {
    return this.#state === 'paused';
  }

  /** What went wrong, in words for the user; undefined unless the run failed. */
  get failure(): string | undefined {
    return this.#failure;
  }

  toFinishReason(): FinishReason {
    if (this.#failure !== undefined || this.#state === 'failed') return 'error';
    if (this.#state === 'paused') return 'tool-calls';
    if (this.#state === 'interrupted' || this.#state === 'aborted') return 'other';
    // The calls of a message that another one follows wait for nobody.
    const isPassedOn = this.#state === 'passed_on';
    if (isPassedOn && this.#finishReason === 'tool-calls') return 'other';
    return this.#finishReason ?? 'stop';
  }
}
