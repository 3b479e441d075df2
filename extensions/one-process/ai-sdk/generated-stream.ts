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

/** A reply as it is written. The promises reject when the run fails. */
export type GeneratedStream<TOOLS extends ToolSet, OUTPUT extends OutputInterface = never> = {
  readonly [Field in keyof Generated<TOOLS>]: Promise<Generated<TOOLS, OUTPUT>[Field]>;
} & {
  /**
   * The parts of all steps; a failure is a part, too. Throws `rewound` when a step begins again of which it
   * has given something; the promises have all of it then, too.
   */
  readonly stream: AsyncIterableStream<TextStreamPart<TOOLS>>;
  /** The same. */
  readonly fullStream: AsyncIterableStream<TextStreamPart<TOOLS>>;
  /** Its text alone. */
  readonly textStream: AsyncIterableStream<string>;
  /** Waits for the end of the call; it is carried out whether its streams are read or not. */
  readonly consumeStream: () => Promise<void>;
  /** The same parts for `readUIMessageStream`. A chat's page is served by `handleChatStream` instead. */
  readonly toUIMessageStream: <MESSAGE extends UIMessage = UIMessage>(
    options?: UIMessageStreamOptions<MESSAGE>,
  ) => AsyncIterableStream<InferUIMessageChunk<MESSAGE>>;
};

interface Reply<TOOLS extends ToolSet, OUTPUT extends OutputInterface> {
  done: Promise<Generated<TOOLS, OUTPUT>>;
  /** The chunks of the run, from the beginning of the call. */
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
    // Callers may look at one of them alone.
    value.catch(() => undefined);
    return [field, value] as const;
  });
  const all = (): AsyncIterable<Part> => toPartStream(read(), agentId, parts(), last);
  const stream = { get: () => toStream(all()), enumerable: true };
  return Object.defineProperties(Object.fromEntries(promises), {
    stream,
    fullStream: stream,
    textStream: { get: () => toStream(toTextStream(all())), enumerable: true },
    // A failure is a part of the stream for the AI SDK, too: the promises have it.
    consumeStream: { value: () => last.then(() => undefined), enumerable: true },
    toUIMessageStream: {
      value: (options: object = {}) =>
        toUIMessageStream({ ...options, stream: toStream(all()), tools }),
      enumerable: true,
    },
  }) as unknown as GeneratedStream<TOOLS, OUTPUT>;
}

/** As the AI SDK has its streams: to be iterated, piped or read. */
function toStream<T>(values: AsyncIterable<T>): AsyncIterableStream<T> {
  return ReadableStream.from(values) as unknown as AsyncIterableStream<T>;
}

/**
 * A call as the parts of the AI SDK's text stream, without those of its sub-agents.
 *
 * @param last the end of the call, once it is known
 * @throws HelixError `rewound` if text that was given is withdrawn: an attempt has failed in the middle
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
async function* toTextStream(parts: AsyncIterable<Part>): AsyncGenerator<string, void, undefined> {
  for await (const part of parts) if (part.type === 'text-delta') yield part.text;
}
