import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { FinishReason, Usage } from '../../protocol/chunk.js';
import { findJsonFault } from '../../protocol/json-depth.js';
import { toTokenCount } from '../../protocol/token-count.js';

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
    inputTokens: toTokenCount(input.total) ?? 0,
    outputTokens: toTokenCount(output.total) ?? 0,
    ...ifKnown('cachedTokens', input.cacheRead),
    ...ifKnown('cacheWriteTokens', input.cacheWrite),
    ...ifKnown('reasoningTokens', output.reasoning),
  };
}

function ifKnown(field: keyof Usage, tokens: number | undefined): Partial<Usage> {
  const count = toTokenCount(tokens);
  return count === undefined ? {} : { [field]: count };
}

/** A provider's value, if it can be stored: undefined if it is not JSON, or nested too deeply. */
export function storableOf(value: unknown): unknown {
  if (value === undefined || findJsonFault(value) !== undefined) return undefined;
  return value;
}
