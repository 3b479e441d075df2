import type { FinishReason, StreamChunk } from '../../protocol/chunk.js';
import type { StreamEnd } from '../../protocol/control-message.js';

/** The state of the run at the newest chunk: active, paused or over. */
export class RunEnding {
  /** `passed_on`: further output of the run belongs to another message. */
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
        // The run continues after what looked like its end.
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

  /** The failure, as text for the user; undefined unless the run failed. */
  get failure(): string | undefined {
    return this.#failure;
  }

  toFinishReason(): FinishReason {
    if (this.#failure !== undefined || this.#state === 'failed') return 'error';
    if (this.#state === 'paused') return 'tool-calls';
    if (this.#state === 'interrupted' || this.#state === 'aborted') return 'other';
    // Calls of a message that another one follows are not waiting.
    const isPassedOn = this.#state === 'passed_on';
    if (isPassedOn && this.#finishReason === 'tool-calls') return 'other';
    return this.#finishReason ?? 'stop';
  }
}
