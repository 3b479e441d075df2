import type { UIStreamPart } from './ui-stream-part.js';

/** Id of a text block: the same live, on replay and in history. */
export function formatTextId(step: number, n: number): string {
  return `t${String(step)}-${String(n)}`;
}

/** Id of a reasoning block. */
export function formatReasoningId(step: number, n: number): string {
  return `r${String(step)}-${String(n)}`;
}

/** The text and reasoning blocks of one step: at most one is open, each has a predictable id. */
export class ContentBlocks {
  #step = 0;
  #texts = 0;
  #reasonings = 0;
  #open: { kind: 'text' | 'reasoning'; id: string } | undefined;

  /** Begins counting anew; an open block is forgotten, not closed. */
  reset(step: number): void {
    this.#step = step;
    this.#texts = 0;
    this.#reasonings = 0;
    this.#open = undefined;
  }

  writeText(delta: string, out: UIStreamPart[]): void {
    if (delta === '') return;
    out.push({ type: 'text-delta', id: this.#enter('text', out), delta });
  }

  writeReasoning(content: string, isComplete: boolean, out: UIStreamPart[]): void {
    if (content !== '') {
      out.push({ type: 'reasoning-delta', id: this.#enter('reasoning', out), delta: content });
    }
    if (isComplete && this.#open?.kind === 'reasoning') this.close(out);
  }

  close(out: UIStreamPart[]): void {
    if (this.#open === undefined) return;
    out.push({ type: `${this.#open.kind}-end`, id: this.#open.id });
    this.#open = undefined;
  }

  /** Announces an open block again, to a reader that joins in the middle of it. */
  reopen(out: UIStreamPart[]): void {
    if (this.#open !== undefined) out.push({ type: `${this.#open.kind}-start`, id: this.#open.id });
  }

  #enter(kind: 'text' | 'reasoning', out: UIStreamPart[]): string {
    if (this.#open?.kind === kind) return this.#open.id;
    this.close(out);
    const id =
      kind === 'text'
        ? formatTextId(this.#step, ++this.#texts)
        : formatReasoningId(this.#step, ++this.#reasonings);
    this.#open = { kind, id };
    out.push({ type: `${kind}-start`, id });
    return id;
  }
}
