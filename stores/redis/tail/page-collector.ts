import { isShort } from '../../../store/redis/entries.js';
import { joinShortDeltas, type StreamEntry } from './joined-deltas.js';

/** A page ends when it has so many entries, or so many characters of JSON. */
const ENTRIES = 500;
const CHARACTERS = 128 * 1024;
/** Joining has to leave at most one entry in so many, or the page saves nothing. */
const GAIN = 10;

/** A page of one writer's entries, as it is kept. */
export interface CollectedPage {
  from: number;
  to: number;
  entries: StreamEntry[];
}

/**
 * Collects what a writer appends until it is a page that is worth keeping. Entries of another writer in
 * between begin a new page: a page has all entries between its first and its last.
 */
export class PageCollector {
  readonly #writer: string;
  #entries: StreamEntry[] = [];
  #characters = 0;
  #last = 0;

  constructor(writer: string) {
    this.#writer = writer;
  }

  /**
   * Takes the messages of one append as they are stored, the last of which got this sequence; returns
   * a page when one is complete.
   */
  add(messages: readonly string[], sequence: number): CollectedPage | undefined {
    const first = sequence - messages.length + 1;
    if (first !== this.#last + 1) this.#clear();
    this.#last = sequence;
    for (const [at, json] of messages.entries()) {
      const fields = isShort(json) ? [this.#writer, json] : ['w', this.#writer, 'c', json];
      this.#entries.push([`${String(first + at)}-0`, fields]);
      this.#characters += json.length;
    }
    if (this.#entries.length < ENTRIES && this.#characters < CHARACTERS) return undefined;
    const [count, joined] = [this.#entries.length, joinShortDeltas(this.#entries)];
    this.#clear();
    if (joined.length * GAIN > count) return undefined;
    return { from: sequence - count + 1, to: sequence, entries: joined };
  }

  #clear(): void {
    this.#entries = [];
    this.#characters = 0;
  }
}
