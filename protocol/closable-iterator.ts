/**
 * Iterators that can be closed during a pending read. An async generator cannot: its `return` waits
 * for the pending `next`, which on a quiet live stream may never settle.
 */

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** A source that is being read. */
export interface OpenSource<T> {
  read: () => Promise<IteratorResult<T, undefined>>;
  /** Closes the source, unless it has already ended or failed. */
  close: () => Promise<void>;
}

/** Opens a source at the first read. */
export function openSource<T>(source: AsyncIterable<T>): OpenSource<T> {
  let iterator: AsyncIterator<T> | undefined;
  let isOver = false;

  return {
    read: async () => {
      if (isOver) return DONE;
      try {
        iterator ??= source[Symbol.asyncIterator]();
        const result = await iterator.next();
        if (result.done !== true) return result;
        isOver = true;
        return DONE;
      } catch (error) {
        isOver = true;
        throw error;
      }
    },
    close: async () => {
      if (isOver) return;
      isOver = true;
      iterator ??= source[Symbol.asyncIterator]();
      await iterator.return?.();
    },
  };
}

/**
 * An iterator over the results of `read`. Concurrent reads are served in order. After an error, and
 * after `return`, the iterator has ended and `close` has been called.
 */
export function closableIterator<T>({ read, close }: OpenSource<T>): AsyncIterableIterator<T> {
  let isOver = false;
  let lastTurn: Promise<unknown> = Promise.resolve();

  async function turn(): Promise<IteratorResult<T, undefined>> {
    if (isOver) return DONE;
    try {
      const result = await read();
      if (result.done !== true) return result;
      isOver = true;
      return DONE;
    } catch (error) {
      isOver = true;
      // The reader gets the first error, not one from closing.
      await close().catch(() => undefined);
      throw error;
    }
  }

  return {
    next: () => {
      const result = lastTurn.then(turn);
      lastTurn = result.catch(() => undefined);
      return result;
    },
    return: async () => {
      isOver = true;
      await close();
      return DONE;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
