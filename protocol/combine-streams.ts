import { closableIterator, openSource, type OpenSource } from './closable-iterator.js';

/** What a read brought. */
type Arrival<T> = { source: OpenSource<T> } & (
  { result: IteratorResult<T, undefined> } | { error: unknown }
);

/**
 * Merges streams: chunks come as they arrive, those of one stream in its order; ends when all have
 * ended. At most one chunk of each stream is held back, and whoever came first goes first, so none
 * is starved. When a stream throws, or the reader leaves, all others are closed.
 */
export function combineStreams<T>(streams: readonly AsyncIterable<T>[]): AsyncIterableIterator<T> {
  const sources = new Set(streams.map((stream) => openSource(stream)));
  /** Sources of which nothing is awaited and nothing has arrived. */
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
      // A generator closes once its pending read settles, which nobody can wait for.
      closing.catch(() => undefined);
      return [];
    });
    sources.clear();
    wake?.();
    await Promise.all(closings);
  }

  return closableIterator({ read, close });
}
