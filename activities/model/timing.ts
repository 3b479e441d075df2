import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { UsedModel } from '../../protocol/run-meter.js';
import { LIMITS } from '../../protocol/limits.js';
import type { ActivityDeps } from '../deps.js';
import type { StepMiddleware, RequestListener } from './middleware.js';
import { RequestFault, STALLED, TOO_SLOW } from './provider-failure.js';

/** Measures each request, for the meter and for those who listen. */
export function timing({ meter }: Pick<ActivityDeps, 'meter'>): StepMiddleware {
  return ({ ref, attempt, progress }) => {
    const { sessionId, runId } = ref;
    return async (request, next) => {
      const call: { asked?: UsedModel; firstMs?: number; ms?: number; code?: string } = {};
      let beganAt = 0;
      let beganMs = 0;
      request.listeners.push({
        asked: ({ model }) => {
          progress.model = model.modelId;
          // The AI SDK names a provider with its endpoint: `openai.responses`.
          const [provider = model.provider] = model.provider.split('.');
          call.asked = { agent: ref.agent, provider, model: model.modelId };
          beganAt = Date.now();
          beganMs = performance.now();
        },
        part: () => {
          call.firstMs ??= performance.now() - beganMs;
        },
        recorded: (usage) => {
          // A call that was cut is over now.
          const { asked, firstMs, code, ms = performance.now() - beganMs } = call;
          if (asked === undefined) return;
          const { provider, model } = asked;
          const timed = { provider, model, beganAt, ms, firstMs, code, usage };
          for (const listener of request.listeners) listener.timed?.(timed);
          if (usage !== undefined) {
            meter?.({ kind: 'tokens_used', run: { sessionId, runId }, ...asked, usage });
          }
        },
      });
      const answer = await next(request);
      const code = answer.failure?.code;
      const { asked, firstMs } = call;
      // A call that was cut for another reason is no failure of the provider's.
      const isEnded = code !== undefined || attempt.cutReason() === undefined;
      if (asked === undefined || !isEnded) return answer;
      const ms = performance.now() - beganMs;
      Object.assign(call, { ms, code });
      const firstSeconds = firstMs === undefined ? undefined : firstMs / 1_000;
      meter?.({ kind: 'model_called', ...asked, seconds: ms / 1_000, firstSeconds, code });
      return answer;
    };
  };
}

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
