import { closableIterator, openSource, type OpenSource } from './closable-iterator.js';

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
