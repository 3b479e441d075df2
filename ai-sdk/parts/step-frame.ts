import type { ContentBlocks } from '../../protocol/content-blocks.js';
import type { UIStreamPart } from './ui-stream-part.js';

/** The content of the newest step in the client's message. `before`: this stream has had no step. */
type StepContent = 'before' | 'nothing' | 'content' | 'calls';

/** Frames the steps of one turn, and ends the response so that a stock client does not post again. */
export class StepFrame {
  readonly #blocks: ContentBlocks;
  readonly #isShown: boolean;
  #content: StepContent;
  #step = 0;
  #isOpen = false;
  /** Parts were sent that no commit has confirmed. */
  #isUncommitted = false;

  constructor(blocks: ContentBlocks, options: { isShown: boolean; isTail: boolean }) {
    this.#blocks = blocks;
    this.#isShown = options.isShown;
    // A tail follows a pause: the client's newest step is the one that asked.
    this.#content = options.isTail ? 'calls' : 'before';
  }

  /** Begins the step unless it has begun, or is over. */
  enter(step: number, out: UIStreamPart[]): void {
    if (step <= this.#step) return;
    this.#close(out);
    this.#step = step;
    this.#isUncommitted = false;
    this.#blocks.reset(step);
    this.#open(out);
  }

  /** Begins another frame within the newest step: calls that wait for people have a frame to themselves. */
  enterAgain(step: number, out: UIStreamPart[]): void {
    this.#close(out);
    this.#step = Math.max(this.#step, step);
    this.#isUncommitted = false;
    this.#open(out);
  }

  /** Notes that the step has a part now. */
  noteContent(kind: 'content' | 'calls'): void {
    this.#isUncommitted = true;
    if (this.#content !== 'calls') this.#content = kind;
  }

  /** The step's reply is stored. */
  commit(step: number, out: UIStreamPart[]): void {
    this.enter(step, out);
    this.#isUncommitted = false;
    this.#close(out);
  }

  /** True if the client was sent parts of this step that may still be withdrawn. */
  isUncommitted(step: number): boolean {
    return step === this.#step && this.#isUncommitted;
  }

  /** Back to the beginning of the step; the client's `start-step` stays. */
  discard(step: number): void {
    if (step !== this.#step || !this.#isOpen) return;
    this.#isUncommitted = false;
    this.#content = 'nothing';
    this.#blocks.reset(step);
  }

  /** Announces an open step again, for a reader that joins in the middle of it. */
  reopen(out: UIStreamPart[]): void {
    if (this.#isOpen && this.#isShown) out.push({ type: 'start-step' });
  }

  /**
   * Closes the last step. With `guard`, a step whose results a stock client would send back is
   * followed by another step with metadata: clients ignore an empty step.
   */
  end(out: UIStreamPart[], options: { guard: boolean }): void {
    if (this.#isShown && options.guard && this.#content !== 'content') {
      if (this.#content !== 'nothing') {
        this.#close(out);
        this.#open(out);
      }
      out.push({ type: 'message-metadata', messageMetadata: {} });
    }
    this.#close(out);
  }

  #open(out: UIStreamPart[]): void {
    this.#isOpen = true;
    this.#content = 'nothing';
    if (this.#isShown) out.push({ type: 'start-step' });
  }

  #close(out: UIStreamPart[]): void {
    this.#blocks.close(out);
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#isShown) out.push({ type: 'finish-step' });
  }
}
