import type { LogEntry, StreamMessage, StreamChunk } from './chunk.js';
import { isTextDeltaChunk } from './chunk-guards.js';
import { HelixError } from './errors.js';

/**
 * Iterators that can be closed during a pending read. An async generator cannot: its `return` waits
 * for the pending `next`, which on a quiet live stream may never settle.
 */

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

interface OpenSource<T> {
  read: () => Promise<IteratorResult<T, undefined>>;
  /** Closes the source, unless it has already ended or failed. */
  close: () => Promise<void>;
}

/** Opens a source at the first read. */
function openSource<T>(source: AsyncIterable<T>): OpenSource<T> {
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
 * Creates an iterator over the results of `read`, which is done after `close`. Concurrent reads are
 * served in order. After an error, and after `return`, `close` has been called.
 */
function closableIterator<T>({ read, close }: OpenSource<T>): AsyncIterableIterator<T> {
  let lastTurn: Promise<unknown> = Promise.resolve();

  async function turn(): Promise<IteratorResult<T, undefined>> {
    try {
      return await read();
    } catch (error) {
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
      await close();
      return DONE;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

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

/**
 * Joins two adjacent deltas of one block into one chunk with the fields of the first; returns
 * undefined for other chunks. Leaves its arguments unchanged. Pure.
 */
export function joinDeltas<Message extends StreamMessage>(
  a: Message,
  b: StreamMessage,
): Message | undefined {
  switch (a.type) {
    case 'text_delta':
      if (b.type !== a.type || !isSameBlock(a, b)) return undefined;
      return { ...a, delta: a.delta + b.delta, ...(isPlain(b) ? undefined : toEnd(b)) };
    case 'thinking':
      if (b.type !== a.type || !isSameBlock(a, b)) return undefined;
      return {
        ...a,
        content: a.content + b.content,
        isComplete: b.isComplete,
        ...(isPlain(b) ? undefined : toEnd(b)),
      };
    case 'tool_arg_stream_delta':
      if (b.type !== a.type || b.toolCallId !== a.toolCallId || !isSameAuthor(a, b))
        return undefined;
      return { ...a, delta: a.delta + b.delta };
    default:
      return undefined;
  }
}

/**
 * Joins adjacent deltas of one block under the last one's sequence. An entry between two deltas
 * keeps them apart, so a replay has the same content in far fewer parts. Pure.
 */
export function mergeDeltas(entries: readonly LogEntry[]): LogEntry[] {
  const merged: LogEntry[] = [];
  let last: LogEntry | undefined;
  for (const entry of entries) {
    const message =
      last?.writer === entry.writer ? joinDeltas(last.message, entry.message) : undefined;
    if (message === undefined) {
      last = entry;
      merged.push(entry);
    } else {
      last = { sequence: entry.sequence, writer: entry.writer, message };
      merged[merged.length - 1] = last;
    }
  }
  return merged;
}

interface Author {
  agentId: string;
  step: number;
}

interface Block extends Author {
  block?: number | undefined;
  isComplete?: boolean | undefined;
  providerMetadata?: unknown;
}

/** A delta without a block number continues the block before it. */
function isSameBlock(a: Block, b: Block): boolean {
  if (a.isComplete === true || (b.block !== undefined && b.block !== a.block)) return false;
  return isSameAuthor(a, b);
}

function isPlain({ isComplete = false, providerMetadata }: Block): boolean {
  return !isComplete && providerMetadata === undefined;
}

/** Fields that the end of a block adds. */
function toEnd<Delta extends Block>({ isComplete, providerMetadata }: Delta): Partial<Delta> {
  return {
    ...(isComplete !== undefined && { isComplete }),
    ...(providerMetadata !== undefined && { providerMetadata }),
  } as Partial<Delta>;
}

function isSameAuthor(a: Author, b: Author): boolean {
  return a.agentId === b.agentId && a.step === b.step;
}

/**
 * Functions that derive one stream of chunks from another. Each reads its source only while it is
 * read itself. Leaving it early closes the source; an error of the source is rethrown.
 */

/** Keeps the chunks of one agent. A sub-agent has its own id. */
export function filterByAgentId<C extends StreamChunk>(
  stream: AsyncIterable<C>,
  agentId: string,
): AsyncIterableIterator<C> {
  return filterWith(stream, (chunk) => chunk.agentId === agentId);
}

export function filterByAgentType<C extends StreamChunk>(
  stream: AsyncIterable<C>,
  agentType: string,
): AsyncIterableIterator<C> {
  return filterWith(stream, (chunk) => chunk.agentType === agentType);
}

/** Keeps the chunks of these types, and narrows the result's type. */
export function filterByType<C extends StreamChunk, const T extends C['type']>(
  stream: AsyncIterable<C>,
  types: readonly T[],
): AsyncIterableIterator<Extract<C, { type: T }>> {
  const wanted: ReadonlySet<string> = new Set(types);
  return filterWith(stream, (chunk): chunk is Extract<C, { type: T }> => wanted.has(chunk.type));
}

export function excludeTypes<C extends StreamChunk, const T extends C['type']>(
  stream: AsyncIterable<C>,
  types: readonly T[],
): AsyncIterableIterator<Exclude<C, { type: T }>> {
  const unwanted: ReadonlySet<string> = new Set(types);
  return filterWith(stream, (chunk): chunk is Exclude<C, { type: T }> => !unwanted.has(chunk.type));
}

/** Keeps the chunks that a predicate accepts; a type guard narrows the result's type. */
export function filterWith<C, D extends C>(
  stream: AsyncIterable<C>,
  accepts: (chunk: C) => chunk is D,
): AsyncIterableIterator<D>;
export function filterWith<C>(
  stream: AsyncIterable<C>,
  accepts: (chunk: C) => boolean,
): AsyncIterableIterator<C>;
export function filterWith<C>(
  stream: AsyncIterable<C>,
  accepts: (chunk: C) => boolean,
): AsyncIterableIterator<C> {
  const source = openSource(stream);
  return closableIterator({
    read: async () => {
      for (;;) {
        const result = await source.read();
        if (result.done === true || accepts(result.value)) return result;
      }
    },
    close: source.close,
  });
}

/**
 * Returns the first `count` chunks, then closes the source. @throws HelixError `validation_error`
 */
export function take<C>(stream: AsyncIterable<C>, count: number): AsyncIterableIterator<C> {
  checkCount(count);
  const source = openSource(stream);
  let left = count;
  return closableIterator({
    read: async () => {
      if (left > 0) {
        left -= 1;
        return source.read();
      }
      await source.close();
      return { done: true, value: undefined };
    },
    close: source.close,
  });
}

/** Skips the first `count` chunks. @throws HelixError `validation_error` */
export function skip<C>(stream: AsyncIterable<C>, count: number): AsyncIterableIterator<C> {
  checkCount(count);
  let left = count;
  return filterWith(stream, () => {
    if (left === 0) return true;
    left -= 1;
    return false;
  });
}

/**
 * Collects the text of a whole stream, including text that a later `step_discarded` withdraws.
 * Sub-agents write into their parent's stream; `agentId` selects one agent.
 *
 * @example
 * import { collectText, type StreamChunk } from 'helix-temporal/protocol';
 *
 * export function textOf(stream: AsyncIterable<StreamChunk>, agentId: string): Promise<string> {
 *   return collectText(stream, { agentId });
 * }
 */
export async function collectText(
  stream: AsyncIterable<StreamChunk>,
  options: { agentId?: string } = {},
): Promise<string> {
  const { agentId } = options;
  let text = '';
  for await (const chunk of stream) {
    if (!isTextDeltaChunk(chunk)) continue;
    if (agentId === undefined || chunk.agentId === agentId) text += chunk.delta;
  }
  return text;
}

export async function collectAll<C>(stream: AsyncIterable<C>): Promise<C[]> {
  const chunks: C[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function checkCount(count: number): void {
  if (Number.isSafeInteger(count) && count >= 0) return;
  throw new HelixError('validation_error', 'A count of chunks is a whole number from 0.');
}
