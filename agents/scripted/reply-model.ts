import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { pause } from './pause.js';
import { toProviderFailure } from './provider-failure.js';
import { readReply } from './reply-content.js';
import { toReplyParts } from './reply-parts.js';
import { toReplyStream } from './reply-stream.js';
import type { Reply } from './reply.js';

/** How a model without a provider is made. */
export interface ReplyModelConfig {
  readonly provider: string;
  readonly modelId: string;
  /** Decides from the call alone: the model has no memory, so any process can take the next call. */
  readonly toReply: (options: LanguageModelV4CallOptions) => Reply;
}

/**
 * A language model of the AI SDK that makes up its replies itself. It streams, fails and aborts
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

/** Passes the caller's abort on until `stop` aborts or the function that is returned is called. */
function linkAbort(signal: AbortSignal | undefined, stop: AbortController): () => void {
  const abort = (): void => {
    stop.abort(signal?.reason);
  };
  // The caller's signal may outlive many calls, so nothing of a call may stay on it.
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
