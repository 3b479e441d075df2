import type { Servers } from '../processes/product.js';

/** The work that all get: so many steps, each of which says so many words and then calls a tool. */
export interface Turn {
  steps: number;
  words: number;
  everyMs: number;
  /** Words are the moments of their utterance, else `s<step>w<number>`. */
  stamp: boolean;
}

/** What a page would show of a turn. */
export interface Page {
  /** The words that arrived, one or several. */
  show: (words: string, at: number) => void;
  /** The reply is sent again from its beginning. */
  clear: () => void;
}

/** A turn that a reader has begun. */
export interface BegunTurn {
  /** Resolves when the response has ended, rejects if it was cut. */
  response: Promise<void>;
  /** Reads what is missing, after the response was cut or ended early. */
  attach: (page: Page, signal: AbortSignal) => Promise<void>;
}

/** CPU seconds by process. */
export type CpuSeconds = Record<string, number>;

/** A contender whose processes run. */
export interface Running {
  begin: (turn: Turn, page: Page, signal: AbortSignal) => BegunTurn;
  /** Its own processes; the engines are counted apart. */
  cpuSeconds: () => CpuSeconds;
  /** Kills the process that makes the replies, and starts it again a second later. */
  crash: () => Promise<void>;
  /** What the engine keeps of the turn that was begun last, once it is over. */
  history?: () => Promise<{ events: number; bytes: number }>;
  stop: () => Promise<void>;
}

/** A system that streams replies, run as its documentation says. */
export interface Contender {
  name: string;
  start: (servers: Servers, peersFolder: string) => Promise<Running>;
  /** Why a turn of steps is not among what it does. */
  withoutSteps?: string;
  /** What a reader of the table has to know. */
  note?: string;
}

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
