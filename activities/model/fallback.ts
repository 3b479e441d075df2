import type { LlmConfig, ModelChoice } from '../../agents/llm-settings.js';
import { LIMITS } from '../../protocol/limits.js';
import { retryDelay, sleep } from '../../protocol/time.js';
import type { Fallback } from '../../store/contract/steps.js';
import { addUsage } from '../../store/contract/usage.js';
import { AttemptFailure } from '../attempt.js';
import type { ActivityDeps } from '../deps.js';
import { AttemptOver, owned } from '../endings.js';
import { callIdsOf } from './call-ids.js';
import type { ClaimedStep, ModelRequest, StepMiddleware } from './middleware.js';
import { isOfPrompt, type ProviderFailure } from './provider-failure.js';
import { usageOf } from './spending.js';
import { createStepReply } from './step-reply.js';
import { clientToolsOf, deferredCallsOf } from './sub-agents.js';

/** A request to the model whose turn it is; at first that which an earlier attempt has reached. */
export function toRequest(
  step: ClaimedStep,
  turn: Fallback = firstTurn(modelsOf(step.agent.llmConfig), step.claim.fallback),
  used = step.claim.usage,
): ModelRequest {
  const { ref, attempt, agent, claim, rows, loaded, chunks } = step;
  const models = modelsOf(agent.llmConfig);
  const base = { agentId: ref.sessionId, agentType: ref.agent, step: ref.step };
  const isDeferred = deferredCallsOf(agent, ref.sessionId);
  const reply = createStepReply(base, callIdsOf(rows), Date.now, isDeferred, clientToolsOf(agent));
  const { added: patches = [] } = loaded ?? {};
  if (patches.length > 0) {
    chunks.push([{ type: 'state_patch', ...base, timestamp: Date.now(), patches }]);
  }
  return {
    step,
    ref: claim.mustFinish === true ? { ...ref, forceFinish: true } : ref,
    turn,
    choice: models[turn.index] ?? models[0],
    isLast: turn.index >= models.length - 1,
    used,
    reply,
    isReplying: false,
    listeners: [],
    signal: attempt.signal,
  };
}

/**
 * Asks again while the provider fails, and the next model in the place of one that has failed for good. It asks
 * within the same activity, so that a `Retry-After` is kept to the millisecond; for longer waits the activity
 * ends, and Temporal begins its next attempt. The count of failures is in the record and outlives a worker, as
 * does the model that has been reached.
 *
 * @throws AttemptOver, AttemptFailure
 */
export function fallback({ store, logger }: ActivityDeps): StepMiddleware {
  return (step) => {
    const { ref, attempt, writer, progress, agent, claim, chunks } = step;
    // When the first of the step's failures was, by this process's clock.
    let failingSince = claim.failures > 0 ? performance.now() - claim.failingForMs : undefined;
    const reasons: object[] = [];

    return async (first, next) => {
      let request = first;
      for (;;) {
        const answer = await next(request);
        await chunks.flush();
        const lost = chunks.lost();
        if (lost !== undefined) throw new AttemptOver({ kind: lost, known: chunks.known() });
        const usage = usageOf(request);
        if (usage !== undefined) progress.usage = usage;
        const { failure } = answer;
        if (failure === undefined || attempt.cutReason() === 'stop') return answer;
        const failedAt = performance.now();
        failingSince ??= failedAt;
        const failing = { failures: progress.failures + 1, forMs: failedAt - failingSince };
        reasons.push({ model: progress.model, code: failure.code });
        const then = nextTry(agent.llmConfig, request.turn, failure, failing);
        if (then === 'failed') {
          const last = allFailed(modelsOf(agent.llmConfig), failure);
          if (last !== failure) {
            logger.warn({ reasons, runId: ref.runId, step: ref.step }, 'all models have failed');
          }
          return { ...answer, failure: last };
        }
        const wait = then.kind === 'wait' ? then.ms : 0;
        const isLong = wait > LIMITS.waitInPlaceMs;
        const discarded = await store.steps.discard({
          writer,
          failure: progress.failures + 1,
          reason: failure.code,
          fallback: then.kind === 'next' ? then.turn.index : undefined,
          waitMs: isLong ? wait : undefined,
          usage,
          now: Date.now(),
        });
        progress.failures = owned(discarded).failures;
        for (const listener of request.listeners) listener.recorded?.(usage);
        if (isLong) throw waitingForProvider(wait);
        // A signal ends the wait early, and the next request sees the signal.
        await sleep(wait, attempt.signal);
        const turn = then.kind === 'next' ? then.turn : request.turn;
        request = toRequest(step, turn, addUsage(request.used, usage));
      }
    };
  };
}

/** Ends the attempt; the next one begins when the provider is to be asked again. */
function waitingForProvider(ms: number): AttemptFailure {
  return new AttemptFailure('the model provider fails and is asked again later', {
    type: 'provider_wait',
    afterMs: ms,
    isExpected: true,
  });
}

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
    newest: last.code,
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
