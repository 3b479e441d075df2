import {
  InvalidPromptError,
  TypeValidationError,
  UnsupportedFunctionalityError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import { sleep } from '../../protocol/time.js';
import type { ChunkWriter } from '../chunk-writer.js';
import type { InputNotes } from './input-hooks.js';
import type { KeptFile, StepFiles } from './made-files.js';
import {
  ModelStalledError,
  ModelTooSlowError,
  RequestNotMadeError,
  StreamCutError,
} from './provider-failure.js';
import type { StepReply } from './reply-types.js';

export interface AskedModel {
  model: LanguageModelV4;
  options: Omit<LanguageModelV4CallOptions, 'abortSignal'>;
  /** Ends the call at once. */
  signal: AbortSignal;
  /** Longest silence, ms. */
  stallTimeoutMs: number;
  /** Until the first piece of the reply, and for all of it, ms. */
  firstPartMs?: number | undefined;
  callMs?: number | undefined;
  reply: StepReply;
  chunks: ChunkWriter;
  /** Called with each part of the reply before it is written; of the deltas with the first only. */
  onPart?: (part: LanguageModelV4StreamPart) => void;
  /** Informs tools of the inputs of their calls. */
  inputs?: InputNotes | undefined;
  /** Stores files that are too large for the stream. */
  keepFile: StepFiles['keep'];
  /** Gives calls ids that are unique in the conversation, where the reply alone cannot. */
  takeCallId?: ((wanted: string) => Promise<string>) | undefined;
}

/**
 * Calls a model and streams its reply to the writer.
 *
 * @throws what the provider throws or streams as an error; ModelStalledError; ModelTooSlowError;
 * StreamCutError for a stream that ends without a finish
 */
export async function askModel(asked: AskedModel): Promise<void> {
  const silence = watchSilence(asked.stallTimeoutMs);
  const pace = watchPace(asked);
  const signal = AbortSignal.any([asked.signal, silence.signal, pace.signal]);
  try {
    await stream({ ...asked, signal, onPart: pace.heard }, silence);
  } catch (error) {
    // The model's own error may have any form.
    throw faultOf(silence, pace) ?? error;
  } finally {
    silence.close();
    pace.close();
  }
  const fault = faultOf(silence, pace);
  if (fault !== undefined) throw fault;
  const finish = asked.reply.finish();
  if (finish === undefined || finish.reason === 'error') throw new StreamCutError();
}

function faultOf(silence: Pick<Silence, 'signal'>, pace: Pace): Error | undefined {
  if (pace.signal.aborted) return new ModelTooSlowError('the model took too long');
  return silence.signal.aborted ? new ModelStalledError() : undefined;
}

async function stream(asked: AskedModel, silence: Silence): Promise<void> {
  const { model, options, signal, reply, chunks } = asked;
  const opening = Promise.resolve(model.doStream({ ...options, abortSignal: signal }));
  // A model that ignores its signal may reply nevertheless: that stream is cancelled unread.
  if (signal.aborted) discard(opening);
  const onAbort = (): void => {
    discard(opening);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  const opened = await Promise.race([opening.catch(throwFault), untilAborted(signal)]);
  signal.removeEventListener('abort', onAbort);
  const reader = opened.stream.getReader();
  // Ends a pending read, also when the model ignores its signal.
  const leave = (): void => {
    reader.cancel().catch(() => undefined);
  };
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  let hasSpoken = false;
  try {
    for (;;) {
      const { done, value: heard } = await reader.read();
      if (done) return;
      silence.heard();
      const value = withText(heard);
      const isDelta = 'delta' in value;
      if (!isDelta || !hasSpoken) asked.onPart?.(value);
      hasSpoken ||= isDelta;
      if (value.type === 'error') throw value.error;
      const callId = callIdOf(value);
      if (callId !== undefined && asked.takeCallId !== undefined) {
        await silence.during(reply.nameCall(callId, asked.takeCallId));
      }
      let kept: KeptFile | undefined;
      if (isFile(value)) {
        await silence.during(asked.keepFile(value).then((made) => void (kept = made)));
      }
      chunks.push(reply.accept(value, kept));
      if (asked.inputs !== undefined) await silence.during(asked.inputs.hear(value, reply));
      const room = chunks.room();
      if (room !== undefined) await silence.during(room);
      if (value.type === 'finish' && value.finishReason.unified !== 'error') {
        // The reply is complete: whatever comes now is not of it, and must not cost it.
        await drain(reader);
        return;
      }
    }
  } finally {
    signal.removeEventListener('abort', leave);
    // Frees the provider's connection after an early end; harmless for a stream that is done.
    leave();
  }
}

/** How long a stream may go on behind the model's finish, ms. */
const AFTER_FINISH_MS = 1_000;

/** Reads on to the end, which others may wait for, such as a middleware that counts. */
async function drain(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  const over = new AbortController();
  const read = async (): Promise<void> => {
    try {
      while (!(await reader.read()).done);
    } catch {
      // An error behind the finish is no failure of the reply.
    }
    over.abort();
  };
  await Promise.race([read(), sleep(AFTER_FINISH_MS, over.signal)]);
}

/** Some providers send deltas without a text, for what else is in them. */
function withText(part: LanguageModelV4StreamPart): LanguageModelV4StreamPart {
  return 'delta' in part && typeof part.delta !== 'string' ? { ...part, delta: '' } : part;
}

/** A provider's package throws errors of its own kinds for what it cannot put into a request. */
function throwFault(error: unknown): never {
  const isOfPackage =
    UnsupportedFunctionalityError.isInstance(error) ||
    TypeValidationError.isInstance(error) ||
    InvalidPromptError.isInstance(error) ||
    (error instanceof Error && /^(ZodError|AI_NoSuchProviderReferenceError)$/.test(error.name));
  if (isOfPackage) throw new RequestNotMadeError('no request could be made', { cause: error });
  throw error;
}

/** The provider's id of a call that begins here. */
function callIdOf(part: LanguageModelV4StreamPart): string | undefined {
  if (part.type === 'tool-input-start') return part.id;
  return part.type === 'tool-call' ? part.toolCallId : undefined;
}

function isFile({ type }: LanguageModelV4StreamPart): boolean {
  return type === 'file' || type === 'reasoning-file';
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => {
      reject(new Error('the model call was cut'));
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}

function discard(opening: PromiseLike<{ stream: ReadableStream }>): void {
  opening.then(
    ({ stream: unread }) => {
      if (!unread.locked) unread.cancel().catch(() => undefined);
    },
    () => undefined,
  );
}

interface Silence {
  signal: AbortSignal;
  heard: () => void;
  /** The model cannot stream during other waits: they do not count as its silence. */
  during: (wait: Promise<void>) => Promise<void>;
  close: () => void;
}

/** Fires after a silence of this length. */
function watchSilence(ms: number): Silence {
  const controller = new AbortController();
  let isWaiting = false;
  const timer = setTimeout(() => {
    if (isWaiting) timer.refresh();
    else controller.abort(new ModelStalledError());
  }, ms);
  return {
    signal: controller.signal,
    heard: () => {
      timer.refresh();
    },
    during: async (wait) => {
      isWaiting = true;
      await wait;
      isWaiting = false;
      timer.refresh();
    },
    close: () => {
      clearTimeout(timer);
    },
  };
}

interface Pace {
  /** Fires when the model has taken too long. */
  signal: AbortSignal;
  heard: (part: LanguageModelV4StreamPart) => void;
  close: () => void;
}

/** What comes before a model says anything. */
const BEFORE: ReadonlySet<string> = new Set(['stream-start', 'response-metadata', 'raw']);

/** Watches how long a model takes to its first piece, and in all. */
function watchPace({
  firstPartMs,
  callMs,
  onPart,
}: {
  firstPartMs?: number | undefined;
  callMs?: number | undefined;
  onPart?: ((part: LanguageModelV4StreamPart) => void) | undefined;
}): Pace {
  const controller = new AbortController();
  const abort = (): void => {
    controller.abort();
  };
  const within = (ms: number | undefined): NodeJS.Timeout | undefined =>
    ms === undefined ? undefined : setTimeout(abort, ms);
  const first = within(firstPartMs);
  const all = within(callMs);
  return {
    signal: controller.signal,
    heard: (part) => {
      if (!BEFORE.has(part.type)) clearTimeout(first);
      onPart?.(part);
    },
    close: () => {
      clearTimeout(first);
      clearTimeout(all);
    },
  };
}
