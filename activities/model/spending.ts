import type { LlmConfig, Pricing } from '../../agents/llm-settings.js';
import type { SpendCap } from '../../agents/agent-config.js';
import type { Usage } from '../../protocol/chunk.js';
import type { Spent } from '../../protocol/run.js';
import { providerOf, type UsedModel } from '../../protocol/telemetry.js';
import type { RunUsage } from '../../store/contract/runs.js';
import { addUsage } from '../../store/contract/usage.js';
import type { ActivityDeps } from '../deps.js';
import type { ModelRequest, StepMiddleware } from './middleware.js';
import { SPEND_CAP_REACHED } from './step-outcome.js';

/** Refuses a request once the run, with any summary, has reached its cap. */
export const spendCap: StepMiddleware =
  ({ agent }) =>
  async (request, next) => {
    const used = addUsage(request.used, request.compactions?.usage());
    return hasReached(agent.spendCap, used)
      ? { request, failure: SPEND_CAP_REACHED }
      : next(request);
  };

/** Returns a request's usage, as far as its provider reported it. */
export function usageOf({ reply, call, step }: ModelRequest): RunUsage | undefined {
  return toRunUsage(reply.finish()?.usage, call ?? step.agent.llmConfig);
}

/** Returns the usage of a model call, with its cost if prices are known. Pure. */
export function toRunUsage(
  usage: Usage | undefined,
  { pricing }: { pricing?: Pricing | undefined },
): RunUsage | undefined {
  if (usage === undefined) return undefined;
  return { ...usage, ...(pricing !== undefined && { costMicroUsd: toMicroUsd(usage, pricing) }) };
}

/** A price in dollars per million tokens is one in micro-dollars per token. */
function toMicroUsd(usage: Usage, pricing: Pricing): number {
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage;
  const { inputPerMTok, outputPerMTok } = pricing;
  const { cachedPerMTok = inputPerMTok, cacheWritePerMTok = inputPerMTok } = pricing;
  const fresh = Math.max(0, inputTokens - cachedTokens - cacheWriteTokens);
  return Math.round(
    fresh * inputPerMTok +
      cachedTokens * cachedPerMTok +
      cacheWriteTokens * cacheWritePerMTok +
      outputTokens * outputPerMTok,
  );
}

/** Returns the model's id, by which usage is summed. */
export function modelNameOf({ model }: Pick<LlmConfig, 'model'>): string {
  const known = typeof model === 'function' ? model() : model;
  return typeof known === 'string' ? known : known.modelId;
}

/** Returns true if the usage forbids another model call. */
export function hasReached(cap: SpendCap | undefined, used: RunUsage | undefined): boolean {
  if (cap === undefined || used === undefined) return false;
  const { usd = Infinity, tokens = Infinity } = cap;
  return tokensOf(used) >= tokens || (used.costMicroUsd ?? 0) >= usd * 1_000_000;
}

export function toSpent(used: RunUsage | undefined): Spent | undefined {
  if (used === undefined) return undefined;
  return { tokens: tokensOf(used), microUsd: used.costMicroUsd };
}

function tokensOf({ inputTokens, outputTokens }: RunUsage): number {
  return inputTokens + outputTokens;
}

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
