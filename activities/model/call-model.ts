import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ModelChoice } from '../../agents/llm-settings.js';
import { childPartOf } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { withTimeout } from '../../protocol/time.js';
import type { Calls } from '../../store/contract/calls.js';
import { cutOf, orAborted } from '../attempt.js';
import type { ActivityDeps } from '../deps.js';
import type { Ask, ClaimedStep, ModelCall, RequestTimes, StepMiddleware } from './middleware.js';
import { RequestFault, toProviderFailure, toRequestFault } from './provider-failure.js';
import type { MadeFile } from './step-reply.js';

type Part = LanguageModelV4StreamPart;

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
      return { request, failure: toProviderFailure(error, request.times.firstMs !== undefined) };
    }
  };

/**
 * Returns a function that calls the model and streams its reply to the writer. That function throws
 * errors that the provider throws or streams, and RequestFault for a stream without a finish and for
 * a model that stalls or exceeds its limit to the first part or to the end.
 */
export function createCallModel({ store }: Pick<ActivityDeps, 'store'>): Ask {
  return async (request) => {
    const { call, reply, step, choice, times } = request;
    const { chunks } = step;
    if (call === undefined) throw new Error('nothing was prepared to ask');
    const { clockMs } = (times.began ??= { at: Date.now(), clockMs: performance.now() });
    step.progress.model = call.model.modelId;
    const takeId = createIdTaker(store.calls, step);
    const pace = createPace(step, choice);
    let source: Source | undefined;
    try {
      source = await open(call, pace.signal);
      // A generator would make several promises for each token.
      for (let read = await source.read(); !read.done; read = await source.read()) {
        const part = withText(read.value);
        pace.hear(part);
        noteTime(times, clockMs, part);
        if (part.type === 'error') throw part.error;
        const callId = callIdOf(part);
        if (callId !== undefined && takeId !== undefined) {
          await pace.during(reply.nameCall(callId, takeId));
        }
        const keeping = isFile(part) ? request.keepFile?.(part) : undefined;
        const kept = keeping === undefined ? undefined : await pace.during(keeping);
        chunks.push(reply.accept(part, kept));
        if (request.onPart !== undefined) await pace.during(request.onPart(part));
        const room = chunks.room();
        if (room !== undefined) await pace.during(room);
        if (part.type === 'finish' && part.finishReason.unified !== 'error') {
          // The reply is complete: later parts do not belong to it and must not fail it.
          await drain(source);
          break;
        }
      }
      pace.throwIfLate();
    } catch (error) {
      // The model's own error may have any form.
      pace.throwIfLate();
      throw error;
    } finally {
      source?.leave();
      pace.end();
    }
    const finish = reply.finish();
    if (finish === undefined || finish.reason === 'error')
      throw new RequestFault('provider_stream_cut');
    return { request };
  };
}

const OUTPUT: ReadonlySet<Part['type']> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-delta',
  'tool-call',
  'file',
  'reasoning-file',
]);

function noteTime(times: RequestTimes, clockMs: number, { type }: Part): void {
  if (times.outputMs !== undefined && type !== 'finish') return;
  const ms = performance.now() - clockMs;
  times.firstMs ??= ms;
  if (OUTPUT.has(type)) times.outputMs ??= ms;
  if (type === 'finish') times.finishMs = ms;
}

/** Returns the provider's id of a call that begins with this part. */
function callIdOf(part: Part): string | undefined {
  if (part.type === 'tool-input-start') return part.id;
  return part.type === 'tool-call' ? part.toolCallId : undefined;
}

function isFile(part: Part): part is MadeFile {
  return part.type === 'file' || part.type === 'reasoning-file';
}

/** Parts that precede the model's first word. */
const BEFORE: ReadonlySet<Part['type']> = new Set(['stream-start', 'response-metadata', 'raw']);

/** Measures a model's pace; `signal` fires once it is too slow, or the attempt is cut. */
function createPace({ agent, attempt }: ClaimedStep, { firstPartMs, callMs }: ModelChoice) {
  const { stallTimeoutMs = LIMITS.stallTimeoutMs } = agent.llmConfig;
  const late = new AbortController();
  const isLate = (): void => {
    late.abort(new RequestFault('model_too_slow'));
  };
  const first = firstPartMs === undefined ? undefined : setTimeout(isLate, firstPartMs);
  const all = callMs === undefined ? undefined : setTimeout(isLate, callMs);
  let isWaiting = false;
  const silence = setTimeout(() => {
    if (isWaiting) silence.refresh();
    else late.abort(new RequestFault('model_stalled'));
  }, stallTimeoutMs);
  return {
    signal: AbortSignal.any([attempt.signal, late.signal]),
    hear: ({ type }: Part): void => {
      silence.refresh();
      if (!BEFORE.has(type)) clearTimeout(first);
    },
    /** Wraps other waits, which do not count as the model's silence. */
    during: async <T>(wait: Promise<T>): Promise<T> => {
      isWaiting = true;
      const result = await wait;
      isWaiting = false;
      silence.refresh();
      return result;
    },
    throwIfLate: (): void => {
      late.signal.throwIfAborted();
    },
    end: (): void => {
      for (const timer of [silence, first, all]) clearTimeout(timer);
    },
  };
}

/** A model's stream. It ends once the signal with which it was opened fires. */
interface Source {
  read: () => Promise<ReadableStreamReadResult<Part>>;
  leave: () => void;
}

/** A model that ignores its signal may reply late; that stream is cancelled. */
async function open({ model, options }: ModelCall, signal: AbortSignal): Promise<Source> {
  const opening = Promise.resolve(model.doStream({ ...options, abortSignal: signal }));
  try {
    const { stream } = await orAborted(opening, signal);
    const reader = stream.getReader();
    // Ends a pending read even if the model ignores its signal, and frees the connection.
    const cancel = (): void => {
      reader.cancel().catch(() => undefined);
    };
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    const leave = (): void => {
      signal.removeEventListener('abort', cancel);
      cancel();
    };
    return { read: () => reader.read(), leave };
  } catch (error) {
    if (signal.aborted) opening.then(({ stream }) => stream.cancel()).catch(() => undefined);
    throw toRequestFault(error);
  }
}

/** Longest time that a stream may go on behind the model's finish, ms. */
const AFTER_FINISH_MS = 1_000;

/** Reads to the end, which a middleware that counts may wait for. */
async function drain(source: Source): Promise<void> {
  const read = async (): Promise<void> => {
    while (!(await source.read()).done);
  };
  // An error after the finish does not fail the reply.
  await withTimeout(AFTER_FINISH_MS, read()).catch(() => undefined);
}

/**
 * Adds the text that some providers omit: from deltas that carry other fields, and from calls, whose
 * input others send as an object.
 */
function withText(part: Part): Part {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-input-delta':
      return typeof part.delta === 'string' ? part : { ...part, delta: '' };
    case 'tool-call': {
      const input: unknown = part.input;
      if (typeof input === 'string') return part;
      return { ...part, input: input === undefined ? '' : JSON.stringify(input) };
    }
    default:
      return part;
  }
}

/**
 * Makes call ids unique in the conversation if the session's rows do not show all calls: they lack
 * calls of sub-agents and calls that a rewind dropped.
 */
function createIdTaker(
  calls: Calls,
  { ref: { sessionId, runId, step }, agent: { tools }, claim }: ClaimedStep,
): ((wanted: string) => Promise<string>) | undefined {
  const mayDelegate = tools.some(({ subAgent }) => subAgent !== undefined);
  if (childPartOf(sessionId) === '' && !mayDelegate && claim.hasDroppedCalls !== true) {
    return undefined;
  }
  return async (wanted) => {
    const call = `${String(step)} ${wanted}`;
    const taken = await calls.takeId({ sessionId, runId, call, wanted });
    // A superseded run commits nothing, so any id will do.
    return taken.kind === 'taken' ? taken.id : wanted;
  };
}
