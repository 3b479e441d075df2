import { ReadableStream } from 'node:stream/web';
import {
  toUIMessageStream,
  type AsyncIterableStream,
  type InferUIMessageChunk,
  type OutputInterface,
  type TextStreamPart,
  type ToolSet,
  type UIMessage,
  type UIMessageStreamOptions,
} from 'ai';
import type { StreamChunk } from '../../../protocol/chunk.js';
import { HelixError } from '../../../protocol/errors.js';
import { FIELDS, type Generated } from './generated.js';
import type { TextParts } from './text-parts.js';
import type { Part } from './tool-uses.js';

/** A streamed reply. Its promises reject if the run fails. */
export type GeneratedStream<TOOLS extends ToolSet, OUTPUT extends OutputInterface = never> = {
  readonly [Field in keyof Generated<TOOLS>]: Promise<Generated<TOOLS, OUTPUT>[Field]>;
} & {
  /**
   * Parts of all steps, and of a failure. Throws `rewound` if a step whose parts were already given begins
   * again; the promises still resolve with the complete reply.
   */
  readonly stream: AsyncIterableStream<TextStreamPart<TOOLS>>;
  /** Same as `stream`. */
  readonly fullStream: AsyncIterableStream<TextStreamPart<TOOLS>>;
  /** The text alone. */
  readonly textStream: AsyncIterableStream<string>;
  /** Waits for the end of the call. The call goes on whether its streams are read or not. */
  readonly consumeStream: () => Promise<void>;
  /** UI message chunks for `readUIMessageStream`. Serve a chat page with `handleChatStream` instead. */
  readonly toUIMessageStream: <MESSAGE extends UIMessage = UIMessage>(
    options?: UIMessageStreamOptions<MESSAGE>,
  ) => AsyncIterableStream<InferUIMessageChunk<MESSAGE>>;
};

interface Reply<TOOLS extends ToolSet, OUTPUT extends OutputInterface> {
  done: Promise<Generated<TOOLS, OUTPUT>>;
  /** Reads the run's chunks from the beginning of the call. */
  read: () => AsyncIterable<StreamChunk> | Iterable<StreamChunk>;
  parts: () => TextParts;
  agentId: string;
  tools: TOOLS;
  signal: AbortSignal | undefined;
}

export function toGeneratedStream<TOOLS extends ToolSet, OUTPUT extends OutputInterface>({
  done,
  read,
  parts,
  agentId,
  tools,
  signal,
}: Reply<TOOLS, OUTPUT>): GeneratedStream<TOOLS, OUTPUT> {
  const last = done.then(
    ({ finishReason, rawFinishReason, usage }): Part => ({
      type: 'finish',
      finishReason,
      rawFinishReason,
      totalUsage: usage,
    }),
    (error: unknown): Part => (signal?.aborted ? { type: 'abort' } : { type: 'error', error }),
  );
  const promises = FIELDS.map((field) => {
    const value = done.then((generated) => generated[field]);
    // A caller may await only one of the promises; the others must not count as unhandled.
    value.catch(() => undefined);
    return [field, value] as const;
  });
  const all = (): AsyncIterable<Part> => toPartStream(read(), agentId, parts(), last);
  const stream = { get: () => toStream(all()), enumerable: true };
  return Object.defineProperties(Object.fromEntries(promises), {
    stream,
    fullStream: stream,
    textStream: { get: () => toStream(toTextStream(all())), enumerable: true },
    // As in the AI SDK, a failure rejects the promises, not this one.
    consumeStream: { value: () => last.then(() => undefined), enumerable: true },
    toUIMessageStream: {
      value: (options: object = {}) =>
        toUIMessageStream({ ...options, stream: toStream(all()), tools }),
      enumerable: true,
    },
  }) as unknown as GeneratedStream<TOOLS, OUTPUT>;
}

/** Returns a stream that can be iterated, piped or read, as in the AI SDK. */
function toStream<T>(values: AsyncIterable<T>): AsyncIterableStream<T> {
  return ReadableStream.from(values) as unknown as AsyncIterableStream<T>;
}

/**
 * Converts a call's chunks to parts of the AI SDK's text stream, without those of sub-agents.
 *
 * @param last end of the call
 * @throws HelixError `rewound` if an attempt failed and given parts are withdrawn
 */
async function* toPartStream(
  chunks: AsyncIterable<StreamChunk> | Iterable<StreamChunk>,
  agentId: string,
  parts: TextParts,
  last: Promise<Part>,
): AsyncGenerator<Part, void, undefined> {
  yield* parts.start();
  for await (const chunk of chunks) {
    if (chunk.agentId !== agentId) continue;
    // Chunks after a pause belong to the next call, even for a late reader.
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

/** Returns the text alone. @throws HelixError `rewound` */
async function* toTextStream(parts: AsyncIterable<Part>): AsyncGenerator<string, void, undefined> {
  for await (const part of parts) if (part.type === 'text-delta') yield part.text;
}
