import type { OnEvent } from './chat-client.js';

/** A page that shows a turn. */
export class Page {
  words: string[] = [];
  /** Latencies from a word's own time to its arrival while the window is open, ms. */
  readonly latencies: number[] = [];
  isOpen = false;
  onWord: () => void = () => undefined;

  /** Shows words that arrived: several if the writer was behind. */
  show(words: string, at: number): void {
    for (const word of words.trimEnd().split(' ')) {
      this.words.push(word);
      if (this.isOpen) this.latencies.push(at - Number(word));
    }
    this.onWord();
  }
}

/** Shows a page the words of this product's stream. The frame `start` makes it begin its message again. */
export function createWords(page: Page): OnEvent {
  return (json, at) => {
    if (json.startsWith('{"type":"start"')) page.words = [];
    else if (json.startsWith('{"type":"text-delta"')) page.show(deltaOf(json), at);
  };
}

/** Returns the text of a frame with a delta. */
export function deltaOf(json: string): string {
  return (JSON.parse(json) as { delta: string }).delta;
}
