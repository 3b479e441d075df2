import type { StreamChunk } from '../../protocol/chunk.js';

/** Creates a text chunk of one agent. */
export function text(delta: string, agentId = 's1'): StreamChunk {
  return { type: 'text_delta', delta, agentId, agentType: 'lab', timestamp: 1, step: 1 };
}

/** A stream of given items that counts reads and reports its closing. */
export class Source<T> implements AsyncIterable<T> {
  reads = 0;
  closed = 0;
  readonly #items: readonly T[];
  readonly #failure: Error | undefined;

  /** Creates the stream; it throws `failure` after the last item, if given. */
  constructor(items: readonly T[], failure?: Error) {
    this.#items = items;
    this.#failure = failure;
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    let at = 0;
    return {
      next: async () => {
        this.reads += 1;
        const item = this.#items[at];
        if (at < this.#items.length) {
          at += 1;
          return { done: false, value: item as T };
        }
        if (this.#failure !== undefined) throw this.#failure;
        return { done: true, value: undefined };
      },
      return: async () => {
        this.closed += 1;
        return { done: true, value: undefined };
      },
    };
  }
}

/** A live stream that yields pushed items and waits in between; closing it ends a waiting read. */
export class LiveSource<T> implements AsyncIterable<T> {
  closed = 0;
  readonly #queue: T[] = [];
  #isOver = false;
  #wake: (() => void) | undefined;

  push(item: T): void {
    this.#queue.push(item);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    return {
      next: async () => {
        for (;;) {
          if (this.#queue.length > 0) return { done: false, value: this.#queue.shift() as T };
          if (this.#isOver) return { done: true, value: undefined };
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      },
      return: async () => {
        this.closed += 1;
        this.end();
        return { done: true, value: undefined };
      },
    };
  }
}

/** Runs all ready callbacks. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Reads one item and leaves, as `break` does. */
export async function readOne<T>(stream: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of stream) return item;
  return undefined;
}
