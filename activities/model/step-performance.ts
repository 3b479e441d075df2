import type { StepRecord } from '../../agents/step-hooks.js';
import type { Answered } from '../../protocol/rows.js';

/**
 * How long a step's reply took, as AI SDK 7 describes it. The times of tools are not kept with the step, so
 * its time is that of the reply; what is not known is 0, or undefined where the type allows it. Pure.
 */
export function toPerformance(
  { ms = 0, firstMs }: Partial<Answered>,
  { inputTokens = 0, outputTokens = 0 }: Partial<StepRecord['usage']>,
): StepRecord['performance'] {
  const rate = (tokens: number, within: number): number =>
    within > 0 ? (tokens * 1_000) / within : 0;
  return {
    effectiveOutputTokensPerSecond: rate(outputTokens, ms),
    outputTokensPerSecond: firstMs === undefined ? undefined : rate(outputTokens, ms - firstMs),
    inputTokensPerSecond: firstMs === undefined ? undefined : rate(inputTokens, firstMs),
    effectiveTotalTokensPerSecond: rate(inputTokens + outputTokens, ms),
    stepTimeMs: ms,
    responseTimeMs: ms,
    toolExecutionMs: {},
    timeToFirstOutputMs: firstMs,
  };
}
