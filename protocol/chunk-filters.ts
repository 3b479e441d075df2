import type { StreamChunk } from './chunk.js';
import { isTextDeltaChunk } from './chunk-guards.js';
import { closableIterator, openSource } from './combine-streams.js';
import { HelixError } from './errors.js';

/**
 * Functions that derive one stream of chunks from another. Each reads its source only while it is
 * read itself. Leaving it early closes the source; an error of the source is rethrown.
 */

/** Only chunks of one agent. A sub-agent has its own id. */
export function filterByAgentId<C extends StreamChunk>(
  stream: AsyncIterable<C>,
  agentId: string,
): AsyncIterableIterator<C> {
  return filterWith(stream, (chunk) => chunk.agentId === agentId);
}

/** Only chunks of agents of this name. */
export function filterByAgentType<C extends StreamChunk>(
  stream: AsyncIterable<C>,
  agentType: string,
): AsyncIterableIterator<C> {
  return filterWith(stream, (chunk) => chunk.agentType === agentType);
}

/** Only chunks of these types, typed as such. */
export function filterByType<C extends StreamChunk, const T extends C['type']>(
  stream: AsyncIterable<C>,
  types: readonly T[],
): AsyncIterableIterator<Extract<C, { type: T }>> {
  const wanted: ReadonlySet<string> = new Set(types);
  return filterWith(stream, (chunk): chunk is Extract<C, { type: T }> => wanted.has(chunk.type));
}

/** All but chunks of these types. */
export function excludeTypes<C extends StreamChunk, const T extends C['type']>(
  stream: AsyncIterable<C>,
  types: readonly T[],
): AsyncIterableIterator<Exclude<C, { type: T }>> {
  const unwanted: ReadonlySet<string> = new Set(types);
  return filterWith(stream, (chunk): chunk is Exclude<C, { type: T }> => !unwanted.has(chunk.type));
}

/** Only what a predicate accepts; a type guard narrows the type of the result. */
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
 * The first chunks; then the source is closed. With 0 nothing is read.
 *
 * @throws HelixError `validation_error` unless `count` is a whole number from 0
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

/**
 * What follows the first chunks.
 *
 * @throws HelixError `validation_error` unless `count` is a whole number from 0
 */
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
 * The text of a whole stream as it was read, including what a later `step_discarded` withdraws.
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

/** All chunks of a stream. */
export async function collectAll<C>(stream: AsyncIterable<C>): Promise<C[]> {
  const chunks: C[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

function checkCount(count: number): void {
  if (Number.isSafeInteger(count) && count >= 0) return;
  throw new HelixError('validation_error', 'A count of chunks is a whole number from 0.');
}
