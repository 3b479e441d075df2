import type { Page } from './contender.js';

/** The words of a turn as one page shows them. */
export class WordsShown implements Page {
  words: string[] = [];
  /** Between the moment that a word names and its arrival, while the window is open; ms. */
  readonly latencies: number[] = [];
  isOpen = false;
  onWord: () => void = () => undefined;

  show(words: string, at: number): void {
    for (const word of words.trimEnd().split(' ')) {
      this.words.push(word);
      if (this.isOpen) this.latencies.push(at - Number(word));
    }
    this.onWord();
  }

  clear(): void {
    this.words = [];
  }

  /** Words that the page shows more than once. */
  doubled(): number {
    return this.words.length - new Set(this.words).size;
  }
}
