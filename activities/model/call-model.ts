import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { sleep } from '../../protocol/time.js';
import { cutOf, orAborted } from '../attempt.js';
import type { Answer, ModelRequest, StepMiddleware } from './middleware.js';
import { STREAM_CUT, RequestFault, toRequestFault, toProviderFailure } from './provider-failure.js';

/** Makes what a request throws a failure of its provider's. */
export const failures: StepMiddleware =
  ({ attempt, warn }) =>
  async (request, next) => {
    try {
      return await next(request);
    } catch (error) {
      // A call that was cut for another reason is no failure of the provider's.
      if (cutOf(attempt) !== undefined) return { request };
      warn('model call failed', error);
      return { request, failure: toProviderFailure(error, request.isReplying) };
    }
  };

/**
 * Calls the model and streams its reply to the writer.
 *
 * @throws what the provider throws or streams as an error; RequestFault for a stream that ends
 * without a finish
 */
export async function callModel(request: ModelRequest): Promise<Answer> {
  const { call, signal, reply, step, listeners } = request;
  const { chunks } = step;
  const { during = (wait) => wait as Promise<void>, heard = () => undefined } = request;
  if (call === undefined) throw new Error('nothing was prepared to ask');
  const reader = await open(call, signal);
  // Ends a pending read, also when the model ignores its signal.
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
        // The reply is complete: whatever comes now is not of it, and must not cost it.
        await drain(reader);
        break;
      }
    }
  } finally {
    signal.removeEventListener('abort', leave);
    // Frees the provider's connection after an early end; harmless for a stream that is done.
    leave();
  }
  const finish = reply.finish();
  if (finish === undefined || finish.reason === 'error') throw new RequestFault(STREAM_CUT);
  return { request };
}

type Reader = ReadableStreamDefaultReader<LanguageModelV4StreamPart>;

/** A model that ignores its signal may reply nevertheless: that stream is cancelled unread. */
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

/** How long a stream may go on behind the model's finish, ms. */
const AFTER_FINISH_MS = 1_000;

/** Reads on to the end, which others may wait for, such as a middleware that counts. */
async function drain(reader: Reader): Promise<void> {
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

/** The provider's id of a call that begins here. */
function callIdOf(part: LanguageModelV4StreamPart): string | undefined {
  if (part.type === 'tool-input-start') return part.id;
  return part.type === 'tool-call' ? part.toolCallId : undefined;
}

function isFile({ type }: LanguageModelV4StreamPart): boolean {
  return type === 'file' || type === 'reasoning-file';
}
