import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { pause } from './pause.js';
import { toProviderFailure, toReplyParts } from './reply-parts.js';
import type { Reply } from './reply.js';

/** Settings of a model without a provider. */
export interface ReplyModelConfig {
  readonly provider: string;
  readonly modelId: string;
  /** Decides from the call alone: without a memory, any process can take the next call. */
  readonly toReply: (options: LanguageModelV4CallOptions) => Reply;
}

/**
 * Creates an AI SDK language model that generates its own replies. It streams, fails, and aborts
 * like a provider's, so it goes through the same code.
 */
export function createReplyModel(config: ReplyModelConfig): LanguageModelV4 {
  const { provider, modelId, toReply } = config;

  async function doStream(
    options: LanguageModelV4CallOptions,
  ): Promise<LanguageModelV4StreamResult> {
    const reply = toReply(options);
    const stop = new AbortController();
    const unlink = linkAbort(options.abortSignal, stop);
    const { failure, hangMs } = reply;
    if (failure?.afterPieces === 0) {
      await pause(hangMs, stop.signal).finally(unlink);
      throw toProviderFailure(failure);
    }
    stop.signal.throwIfAborted();
    const { prompt } = options;
    const parts = toReplyParts(reply, { modelId, prompt, signal: stop.signal });
    return { stream: toReplyStream(runFinally(parts, unlink), stop) };
  }

  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    supportedUrls: {},
    doStream,
    doGenerate: async (options) => readReply((await doStream(options)).stream),
  };
}

/** Forwards the caller's abort until `stop` aborts or the returned function is called. */
function linkAbort(signal: AbortSignal | undefined, stop: AbortController): () => void {
  const abort = (): void => {
    stop.abort(signal?.reason);
  };
  // The caller's signal may outlive many calls, so no listener of a call may stay on it.
  const unlink = (): void => signal?.removeEventListener('abort', abort);
  stop.signal.addEventListener('abort', unlink, { once: true });
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  return unlink;
}

async function* runFinally<T>(
  parts: AsyncGenerator<T, void, undefined>,
  cleanUp: () => void,
): AsyncGenerator<T, void, undefined> {
  try {
    yield* parts;
  } finally {
    cleanUp();
  }
}

/**
 * Parts waiting for a slow reader. Like the buffers of a socket: the model keeps its pace while the
 * reader is busy for a moment, but does not run ahead without bound.
 */
const BUFFERED_PARTS = 256;

/**
 * Creates a model's stream. An abort errors it at once, even with unread parts; a reader that
 * cancels ends the model's work.
 *
 * @param parts the model's work, which stops when `stop` aborts
 */
function toReplyStream(
  parts: AsyncGenerator<LanguageModelV4StreamPart, void, undefined>,
  stop: AbortController,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      start(controller) {
        const fail = (): void => {
          controller.error(stop.signal.reason);
        };
        stop.signal.addEventListener('abort', fail, { once: true });
      },
      async pull(controller) {
        const next = await parts.next();
        if (stop.signal.aborted) return;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel(reason) {
        stop.abort(reason);
      },
    },
    { highWaterMark: BUFFERED_PARTS },
  );
}

/**
 * Reads a model's stream to its end, for callers that want the whole reply.
 *
 * @throws the error that the stream carries
 */
async function readReply(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = [];
  let end: Extract<LanguageModelV4StreamPart, { type: 'finish' }> | undefined;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'finish') end = part;
    if (part.type === 'tool-call') content.push(part);
    if (part.type === 'text-start') content.push({ type: 'text', text: '' });
    if (part.type === 'reasoning-start') content.push({ type: 'reasoning', text: '' });
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
      const open = content.at(-1);
      if (open?.type === 'text' || open?.type === 'reasoning') open.text += part.delta;
    }
  }
  if (end === undefined) throw new Error('The stream of a reply ended without a finish part.');
  return { content, finishReason: end.finishReason, usage: end.usage, warnings: [] };
}
