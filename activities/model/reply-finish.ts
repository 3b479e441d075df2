import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { FinishReason, Usage } from '../../protocol/chunk.js';
import { findJsonFault } from '../../protocol/json-depth.js';

/** How a provider says that it is done. */
export interface ReplyFinish {
  reason: FinishReason;
  usage: Usage;
}

/** A provider's word for its end → ours. Pure. */
export function toReplyFinish({
  finishReason,
  usage,
}: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): ReplyFinish {
  return { reason: toFinishReason(finishReason.unified), usage: toUsage(usage) };
}

function toFinishReason(reason: string): FinishReason {
  const known: readonly string[] = ['stop', 'length', 'tool-calls', 'content-filter', 'error'];
  return known.includes(reason) ? (reason as FinishReason) : 'other';
}

function toUsage({ inputTokens: input, outputTokens: output }: LanguageModelV4Usage): Usage {
  return {
    inputTokens: toCount(input.total) ?? 0,
    outputTokens: toCount(output.total) ?? 0,
    ...ifKnown('cachedTokens', input.cacheRead),
    ...ifKnown('cacheWriteTokens', input.cacheWrite),
    ...ifKnown('reasoningTokens', output.reasoning),
  };
}

function ifKnown(field: keyof Usage, tokens: number | undefined): Partial<Usage> {
  const count = toCount(tokens);
  return count === undefined ? {} : { [field]: count };
}

/** Providers have reported NaN and null. More than a billion is no count of one call. */
function toCount(tokens: number | null | undefined): number | undefined {
  if (typeof tokens !== 'number' || !Number.isFinite(tokens)) return undefined;
  return Math.min(Math.max(0, Math.round(tokens)), 1_000_000_000);
}

/** A provider's value, if it can be stored: undefined if it is not JSON, or nested too deeply. */
export function storableOf(value: unknown): unknown {
  if (value === undefined || findJsonFault(value) !== undefined) return undefined;
  return value;
}
