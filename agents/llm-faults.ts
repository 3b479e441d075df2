import type { AgentDefinition, LlmConfig } from './definitions.js';

/** What is wrong with how the model is called, as the end of a sentence. */
export function findLlmFault(llmConfig: LlmConfig): string | undefined {
  const { pricing, stallTimeoutMs, retryForMs, maxTries } = llmConfig;
  const prices: [string, unknown][] = Object.entries(pricing ?? {});
  const odd = prices.find(([, price]) => price !== undefined && !isAmount(price));
  if (odd !== undefined) return `llmConfig.pricing.${odd[0]} must be a number from 0`;
  if (pricing !== undefined && !isAmount(pricing.inputPerMTok)) {
    return 'llmConfig.pricing.inputPerMTok is missing';
  }
  if (pricing !== undefined && !isAmount(pricing.outputPerMTok)) {
    return 'llmConfig.pricing.outputPerMTok is missing';
  }
  const isTime = stallTimeoutMs === undefined || (isAmount(stallTimeoutMs) && stallTimeoutMs >= 1);
  if (!isTime) return 'llmConfig.stallTimeoutMs must be a number of milliseconds from 1';
  if (retryForMs !== undefined && !isAmount(retryForMs)) {
    return 'llmConfig.retryForMs must be a number of milliseconds from 0';
  }
  const isCount = maxTries === undefined || (Number.isSafeInteger(maxTries) && maxTries >= 1);
  return isCount ? undefined : 'llmConfig.maxTries must be a whole number from 1';
}

/** What is wrong with an agent's cap on spending, as the end of a sentence. */
export function findSpendFault({ spendCap, llmConfig }: AgentDefinition): string | undefined {
  if (spendCap === undefined) return undefined;
  const { usd, tokens } = spendCap;
  if (usd !== undefined && !(isAmount(usd) && usd > 0)) return 'spendCap.usd must be above 0';
  if (tokens !== undefined && !(isAmount(tokens) && tokens > 0)) {
    return 'spendCap.tokens must be above 0';
  }
  return usd !== undefined && llmConfig.pricing === undefined
    ? 'spendCap.usd needs llmConfig.pricing'
    : undefined;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
