import { providerOf, type UsedModel } from '../../protocol/telemetry.js';
import type { ActivityDeps } from '../deps.js';
import type { ModelRequest, StepMiddleware } from './middleware.js';

/** Counts each request to a model, and its usage once the record has it. */
export function timing({ meter }: Pick<ActivityDeps, 'meter'>): StepMiddleware {
  return ({ ref: { agent, sessionId, runId }, attempt }) =>
    async (request, next) => {
      request.recorded.push((usage) => {
        const asked = askedOf(agent, request);
        if (asked === undefined || usage === undefined) return;
        meter?.({ kind: 'tokens_used', run: { sessionId, runId }, ...asked, usage });
      });
      const answer = await next(request);
      const { times } = request;
      const asked = askedOf(agent, request);
      const code = answer.failure?.code;
      // A cut call is no failure of the provider.
      const isEnded = code !== undefined || attempt.cutReason() === undefined;
      if (asked === undefined || times.began === undefined || !isEnded) return answer;
      const ms = performance.now() - times.began.clockMs;
      Object.assign(times, { ms, code });
      const firstSeconds = times.firstMs === undefined ? undefined : times.firstMs / 1_000;
      meter?.({ kind: 'model_called', ...asked, seconds: ms / 1_000, firstSeconds, code });
      return answer;
    };
}

/** Returns undefined until the model is asked. */
function askedOf(agent: string, { call, times }: ModelRequest): UsedModel | undefined {
  if (call === undefined || times.began === undefined) return undefined;
  return { agent, provider: providerOf(call.model), model: call.model.modelId };
}
