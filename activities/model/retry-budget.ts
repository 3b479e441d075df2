import type { LlmConfig } from '../../agents/definitions.js';
import { LIMITS } from '../../protocol/limits.js';
import { retryDelay } from '../../protocol/time.js';

/** A provider that comes back is noticed within the longest wait. */
const RETRY = { firstMs: 250, mostMs: 30_000, jitter: 0.5 };
/** The last try comes this much behind the budget's end at most, so that runs do not all ask at once. */
const SPREAD_MS = 2_000;

/** How long the provider has failed a step. */
export interface Failing {
  /** Failures so far, this one included. */
  failures: number;
  /** Since the first of them, ms. */
  forMs: number;
}

/**
 * How long to wait before the provider is asked again, ms; undefined if it has failed for too long, or
 * says itself that it will not be back in time.
 *
 * @param random from 0 to 1: runs that met one outage do not come back in one moment
 */
export function nextWait(
  { failures, forMs }: Failing,
  retryAfterMs: number | undefined,
  {
    maxTries = Infinity,
    retryForMs = LIMITS.retryForMs,
  }: Pick<LlmConfig, 'maxTries' | 'retryForMs'>,
  random: () => number = Math.random,
): number | undefined {
  if (failures >= maxTries || forMs >= retryForMs) return undefined;
  const left = retryForMs - forMs;
  if (retryAfterMs !== undefined) {
    const spread = random() * Math.min(SPREAD_MS, retryAfterMs / 10);
    return retryAfterMs > left ? undefined : Math.round(retryAfterMs + spread);
  }
  const waitMs = retryDelay({ attempt: failures, ...RETRY, random });
  return Math.round(Math.min(waitMs, left + random() * SPREAD_MS));
}
