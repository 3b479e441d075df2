import type { LlmConfig, Pricing } from '../../agents/llm-settings.js';
import type { SpendCap } from '../../agents/agent-config.js';
import type { Usage } from '../../protocol/chunk.js';
import type { Spent } from '../../protocol/run.js';
import type { RunUsage } from '../../store/contract/runs.js';
import { addUsage } from '../../store/contract/usage.js';
import type { ModelRequest, StepMiddleware } from './middleware.js';
import { SPEND_CAP_REACHED } from './step-outcome.js';

/** Refuses a request of a run that has used what it may, a summary before it included. */
export const spendCap: StepMiddleware =
  ({ agent }) =>
  async (request, next) => {
    const used = addUsage(request.used, request.compactions?.usage());
    return hasReached(agent.spendCap, used)
      ? { request, failure: SPEND_CAP_REACHED }
      : next(request);
  };

/** What a request has used, as far as its provider reported it. */
export function usageOf({ reply, call, step }: ModelRequest): RunUsage | undefined {
  return toRunUsage(reply.finish()?.usage, call ?? step.agent.llmConfig);
}

/** What a model call has used, with what it cost where prices are known. Pure. */
export function toRunUsage(
  usage: Usage | undefined,
  { pricing }: Pick<LlmConfig, 'pricing'>,
): RunUsage | undefined {
  if (usage === undefined) return undefined;
  return { ...usage, ...(pricing !== undefined && { costMicroUsd: toMicroUsd(usage, pricing) }) };
}

/** Dollars for a million tokens are millionths of a dollar for one. */
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

/** The model's id, by which usage is summed up. */
export function modelNameOf({ model }: Pick<LlmConfig, 'model'>): string {
  const known = typeof model === 'function' ? model() : model;
  return typeof known === 'string' ? known : known.modelId;
}

/** True if a run that has used this much may not make another model call. */
export function hasReached(cap: SpendCap | undefined, used: RunUsage | undefined): boolean {
  if (cap === undefined || used === undefined) return false;
  const { usd = Infinity, tokens = Infinity } = cap;
  return tokensOf(used) >= tokens || (used.costMicroUsd ?? 0) >= usd * 1_000_000;
}

export function toSpent(used: RunUsage | undefined): Spent | undefined {
  if (used === undefined) return undefined;
  const { costMicroUsd } = used;
  return {
    tokens: tokensOf(used),
    microUsd: costMicroUsd,
  };
}

function tokensOf({ inputTokens, outputTokens }: RunUsage): number {
  return inputTokens + outputTokens;
}
