/**
 * Iterators that can be closed during a pending read. An async generator cannot: its `return` waits
 * for the pending `next`, which on a quiet live stream may never settle.
 */

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** A source that is being read. */
interface OpenSource<T> {
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

/** The result of a read. */
type Arrival<T> = { source: OpenSource<T> } & (
  { result: IteratorResult<T, undefined> } | { error: unknown }
);

/**
 * Merges streams. Chunks are returned as they arrive, in order within each stream; ends when all
 * streams have ended. At most one chunk of each stream is buffered, and the earliest is returned
 * first, so that no stream starves. When a stream throws, or the reader leaves, all others are
 * closed.
 *
 * @example
 * import { combineStreams, isTextDeltaChunk, type StreamChunk } from 'helix-temporal/protocol';
 *
 * export async function printAll(streams: AsyncIterable<StreamChunk>[]): Promise<void> {
 *   for await (const chunk of combineStreams(streams)) {
 *     if (isTextDeltaChunk(chunk)) console.log(chunk.agentId, chunk.delta);
 *   }
 * }
 */
export function combineStreams<T>(streams: readonly AsyncIterable<T>[]): AsyncIterableIterator<T> {
  const sources = new Set(streams.map((stream) => openSource(stream)));
  /** Sources without a pending read or a buffered chunk. */
  const idle = new Set(sources);
  const reading = new Set<OpenSource<T>>();
  const arrived: Arrival<T>[] = [];
  let wake: (() => void) | undefined;

  function startRead(source: OpenSource<T>): void {
    idle.delete(source);
    reading.add(source);
    const arrive = (arrival: Arrival<T>): void => {
      reading.delete(source);
      arrived.push(arrival);
      wake?.();
    };
    source.read().then(
      (result) => {
        arrive({ source, result });
      },
      (error: unknown) => {
        arrive({ source, error });
      },
    );
  }

  async function read(): Promise<IteratorResult<T, undefined>> {
    while (sources.size > 0) {
      for (const source of idle) startRead(source);
      const arrival = arrived.shift();
      if (arrival === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      if ('error' in arrival) throw arrival.error;
      if (arrival.result.done !== true) {
        idle.add(arrival.source);
        return arrival.result;
      }
      sources.delete(arrival.source);
    }
    return { done: true, value: undefined };
  }

  async function close(): Promise<void> {
    const closings = [...sources].flatMap((source) => {
      const closing = source.close();
      if (!reading.has(source)) return [closing];
      // A generator closes only when its pending read settles, which may never happen.
      closing.catch(() => undefined);
      return [];
    });
    sources.clear();
    wake?.();
    await Promise.all(closings);
  }

  return closableIterator({ read, close });
}
