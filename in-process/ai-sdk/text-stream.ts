import type { AsyncIterableStream } from 'ai';
import { ReadableStream } from 'node:stream/web';
import type { StreamChunk } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import type { TextParts } from './text-parts.js';
import type { Part } from './tool-uses.js';

/** As the AI SDK has its streams: to be iterated, piped or read. */
export function toStream<T>(values: AsyncIterable<T>): AsyncIterableStream<T> {
  return ReadableStream.from(values) as unknown as AsyncIterableStream<T>;
}

/**
 * A call as the parts of the AI SDK's text stream, without those of its sub-agents.
 *
 * @param last the end of the call, once it is known
 * @throws HelixError `rewound` if text that was given is withdrawn: an attempt has failed in the middle
 */
export async function* toPartStream(
  chunks: AsyncIterable<StreamChunk> | Iterable<StreamChunk>,
  agentId: string,
  parts: TextParts,
  last: Promise<Part>,
): AsyncGenerator<Part, void, undefined> {
  yield* parts.start();
  for await (const chunk of chunks) {
    if (chunk.agentId !== agentId) continue;
    // What follows a pause belongs to the next call, also for those who read late.
    if (chunk.type === 'run_paused') break;
    if (parts.isWithdrawn(chunk)) {
      throw new HelixError(
        'rewound',
        'The step begins again; what it wrote so far does not count.',
      );
    }
    yield* parts.take(chunk);
  }
  yield* parts.end();
  yield await last;
}

/** Its text alone. @throws HelixError `rewound` */
export async function* toTextStream(
  parts: AsyncIterable<Part>,
): AsyncGenerator<string, void, undefined> {
  for await (const part of parts) if (part.type === 'text-delta') yield part.text;
}
