import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { sleep } from '../../protocol/time.js';
import { cutOf, orAborted } from '../attempt.js';
import type { Answer, ModelRequest, StepMiddleware } from './middleware.js';
import { STREAM_CUT, RequestFault, toRequestFault, toProviderFailure } from './provider-failure.js';

/** Converts errors of a request to failures of its provider. */
export const failures: StepMiddleware =
  ({ attempt, warn }) =>
  async (request, next) => {
    try {
      return await next(request);
    } catch (error) {
      // A cut call is no failure of the provider.
      if (cutOf(attempt) !== undefined) return { request };
      warn('model call failed', error);
      return { request, failure: toProviderFailure(error, request.isReplying) };
    }
  };

/**
 * Calls the model and streams its reply to the writer.
 *
 * @throws errors that the provider throws or streams; RequestFault for a stream without a finish
 */
export async function callModel(request: ModelRequest): Promise<Answer> {
  const { call, signal, reply, step, listeners } = request;
  const { chunks } = step;
  const { during = (wait) => wait as Promise<void>, heard = () => undefined } = request;
  if (call === undefined) throw new Error('nothing was prepared to ask');
  const reader = await open(call, signal);
  // Ends a pending read even if the model ignores its signal.
  const leave = (): void => {
    reader.cancel().catch(() => undefined);
  };
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  let hasSpoken = false;
  try {
    for (;;) {
      const { done, value: given } = await reader.read();
      if (done) break;
      heard();
      const part = withText(given);
      const isDelta = 'delta' in part;
      if (!isDelta || !hasSpoken) {
        request.isReplying = true;
        for (const listener of listeners) listener.part?.(part);
      }
      hasSpoken ||= isDelta;
      if (part.type === 'error') throw part.error;
      const callId = callIdOf(part);
      if (callId !== undefined && request.takeCallId !== undefined) {
        await during(reply.nameCall(callId, request.takeCallId));
      }
      const keeping = isFile(part) ? request.keepFile?.(part) : undefined;
      if (keeping !== undefined) await during(keeping);
      chunks.push(reply.accept(part, keeping === undefined ? undefined : await keeping));
      if (request.noteInput !== undefined) await during(request.noteInput(part));
      const room = chunks.room();
      if (room !== undefined) await during(room);
      if (part.type === 'finish' && part.finishReason.unified !== 'error') {
        // The reply is complete: later parts do not belong to it and must not fail it.
        await drain(reader);
        break;
      }
    }
  } finally {
    signal.removeEventListener('abort', leave);
    // Frees the provider's connection after an early end.
    leave();
  }
  const finish = reply.finish();
  if (finish === undefined || finish.reason === 'error') throw new RequestFault(STREAM_CUT);
  return { request };
}

type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>;

/** Opens the stream. A model that ignores its signal may reply late; that stream is cancelled. */
async function open(
  { model, options }: NonNullable<ModelRequest['call']>,
  signal: AbortSignal,
): Promise<Reader> {
  const opening = Promise.resolve(model.doStream({ ...options, abortSignal: signal }));
  try {
    const { stream } = await orAborted(opening, signal);
    return stream.getReader();
  } catch (error) {
    if (signal.aborted) opening.then(({ stream }) => stream.cancel()).catch(() => undefined);
    throw toRequestFault(error);
  }
}

/** Longest time that a stream may go on behind the model's finish, ms. */
const AFTER_FINISH_MS = 1_000;

/** Reads to the end, which a middleware that counts may wait for. */
async function drain(reader: Reader): Promise<void> {
  const over = new AbortController();
  const read = async (): Promise<void> => {
    try {
      while (!(await reader.read()).done);
    } catch {
      // An error after the finish does not fail the reply.
    }
    over.abort();
  };
  await Promise.race([read(), sleep(AFTER_FINISH_MS, over.signal)]);
}

/** Adds the text that some providers omit from deltas that carry other fields. */
function withText(part: LanguageModelV4StreamPart): LanguageModelV4StreamPart {
  return 'delta' in part && typeof part.delta !== 'string' ? { ...part, delta: '' } : part;
}

/** Returns the provider's id of a call that begins with this part. */
function callIdOf(part: LanguageModelV4StreamPart): string | undefined {
  if (part.type === 'tool-input-start') return part.id;
  return part.type === 'tool-call' ? part.toolCallId : undefined;
}

function isFile({ type }: LanguageModelV4StreamPart): boolean {
  return type === 'file' || type === 'reasoning-file';
}
