import type { LlmConfig, ModelChoice } from '../../agents/definitions.js';
import { LIMITS } from '../../protocol/limits.js';
import { retryDelay } from '../../protocol/time.js';
import type { Fallback } from '../../stores/contract/steps.js';
import { isOfPrompt, type ProviderFailure } from './provider-failure.js';

/** Requests to a model that another one follows, unless it has a number of its own. */
const TRIES = 2;

/** Failures that are of one model or its provider: another one may answer. */
const OF_A_MODEL: ReadonlySet<string> = new Set([
  'provider_error',
  'provider_rate_limited',
  'provider_overloaded',
  'provider_stream_cut',
  'provider_quota_exhausted',
  'provider_unauthorized',
  'provider_unknown_model',
  'provider_bad_reply',
  'provider_bad_stream',
  'model_request_failed',
  'model_not_configured',
  'model_stalled',
  'model_too_slow',
]);

const isOfModel = (code: string): boolean => OF_A_MODEL.has(code) || isOfPrompt(code);

/** What follows a failure: a wait before the same model is asked again, the next model, or the end. */
export type NextTry = { kind: 'wait'; ms: number } | { kind: 'next'; turn: Fallback } | 'failed';

/** The agent's models, in the order in which they are asked. Pure. */
export function modelsOf({ model, models }: LlmConfig): readonly [ModelChoice, ...ModelChoice[]] {
  const [first, ...others] = models ?? [];
  return first === undefined ? [{ model }] : [first, ...others];
}

/**
 * The turn that an attempt at a step begins with: that of the model which an earlier attempt has reached,
 * so that a worker that takes over does not ask those before it again. A release may have shortened the
 * list in between. Pure.
 */
export function firstTurn(
  models: readonly ModelChoice[],
  { index, before }: Fallback = { index: 0, before: 0 },
): Fallback {
  return { index: Math.min(index, models.length - 1), before };
}

/**
 * What follows a failure of the model whose turn it is. The next model is asked at once: when this one
 * has used up its tries, cannot be asked again, or asks to wait for long. Pure.
 *
 * @param failing the step's failures, this one included, and since when, ms
 * @param random see `nextWait`
 */
export function nextTry(
  llmConfig: LlmConfig,
  turn: Fallback,
  failure: ProviderFailure,
  failing: { failures: number; forMs: number },
  random?: () => number,
): NextTry {
  const { maxTries = Infinity, retryForMs = LIMITS.retryForMs } = llmConfig;
  const models = modelsOf(llmConfig);
  const isLast = turn.index >= models.length - 1;
  const { failures, forMs } = failing;
  const ofModel = failures - turn.before;
  const most = models[turn.index]?.maxTries ?? (isLast ? Infinity : TRIES);
  const budget = { maxTries: Math.min(most, maxTries - turn.before), retryForMs };
  const wait = failure.retryable
    ? nextWait({ failures: ofModel, forMs }, failure.retryAfterMs, budget, random)
    : undefined;
  if (isLast || !isOfModel(failure.code))
    return wait === undefined ? 'failed' : { kind: 'wait', ms: wait };
  if (wait !== undefined && wait <= LIMITS.waitInPlaceMs) return { kind: 'wait', ms: wait };
  if (failures >= maxTries || forMs >= retryForMs) return 'failed';
  return { kind: 'next', turn: { index: turn.index + 1, before: failures } };
}

/** How a step ends whose models have all failed; which of them failed how is logged only. */
export function allFailed(models: readonly ModelChoice[], last: ProviderFailure): ProviderFailure {
  if (models.length === 1 || !isOfModel(last.code)) return last;
  return {
    code: 'models_failed',
    message: 'None of the models could answer.',
    retryable: last.retryable,
  };
}

/** A provider that comes back is noticed within the longest wait. */
const RETRY = { firstMs: 250, mostMs: 30_000, jitter: 0.5 };

/** The last try comes this much behind the budget's end at most, so that runs do not all ask at once. */
const SPREAD_MS = 2_000;

/** How long the provider has failed a step. */
interface Failing {
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
