import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { LIMITS } from '../../protocol/limits.js';
import type { RequestListener, StepMiddleware } from './middleware.js';
import { RequestFault, STALLED, TOO_SLOW } from './provider-failure.js';

/** What comes before a model says anything. */
const BEFORE: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set([
  'stream-start',
  'response-metadata',
  'raw',
]);

/**
 * Ends a request whose model is silent for too long, or takes too long to its first piece, or in all.
 *
 * @throws RequestFault
 */
export const pacing: StepMiddleware =
  ({ agent, attempt }) =>
  async (request, next) => {
    const { stallTimeoutMs = LIMITS.stallTimeoutMs } = agent.llmConfig;
    const { firstPartMs, callMs } = request.choice;
    const late = new AbortController();
    const isLate = (): void => {
      late.abort(new RequestFault(TOO_SLOW));
    };
    const first = firstPartMs === undefined ? undefined : setTimeout(isLate, firstPartMs);
    const all = callMs === undefined ? undefined : setTimeout(isLate, callMs);
    let isWaiting = false;
    const silence = setTimeout(() => {
      if (isWaiting) silence.refresh();
      else late.abort(new RequestFault(STALLED));
    }, stallTimeoutMs);
    const own: RequestListener = {
      part: ({ type }) => {
        if (!BEFORE.has(type)) clearTimeout(first);
      },
    };
    request.listeners.push(own);
    request.signal = AbortSignal.any([attempt.signal, late.signal]);
    request.heard = () => {
      silence.refresh();
    };
    request.during = async (wait) => {
      isWaiting = true;
      await wait;
      isWaiting = false;
      silence.refresh();
    };
    try {
      const answer = await next(request);
      late.signal.throwIfAborted();
      return answer;
    } catch (error) {
      // The model's own error may have any form.
      throw late.signal.aborted ? late.signal.reason : error;
    } finally {
      for (const timer of [silence, first, all]) clearTimeout(timer);
      request.listeners.splice(request.listeners.indexOf(own), 1);
    }
  };
