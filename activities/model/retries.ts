import type { LlmConfig, ModelChoice } from '../../agents/llm-settings.js';
import { LIMITS } from '../../protocol/limits.js';
import { retryDelay, sleep } from '../../protocol/time.js';
import type { Fallback } from '../../store/contract/steps.js';
import { addUsage } from '../../store/contract/usage.js';
import { AttemptFailure } from '../attempt.js';
import type { ActivityDeps } from '../deps.js';
import { AttemptOver, owned } from '../end-step.js';
import { callIdsOf } from './call-ids.js';
import type { ClaimedStep, ModelRequest, StepMiddleware } from './middleware.js';
import { isOfPrompt, type ProviderFailure } from './provider-failure.js';
import { usageOf } from './spending.js';
import { createStepReply } from './step-reply.js';
import { clientToolsOf, deferredCallsOf } from './deferred-questions.js';

/** Creates a request to the current model; a new attempt resumes the model last reached. */
export function toRequest(
  step: ClaimedStep,
  turn: Fallback = firstTurn(modelsOf(step.agent.llmConfig), step.claim.fallback),
  used = step.claim.usage,
): ModelRequest {
  const { ref, agent, claim, rows, loaded, chunks } = step;
  const models = modelsOf(agent.llmConfig);
  const base = { agentId: ref.sessionId, agentType: ref.agent, step: ref.step };
  const isDeferred = deferredCallsOf(agent, ref.sessionId);
  const isClients = clientToolsOf(agent);
  const reply = createStepReply(base, callIdsOf(rows), Date.now, { isDeferred, isClients });
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
    recorded: [],
    times: {},
  };
}

/**
 * Retries while the provider fails, and moves to the next model when one has failed for good. It
 * retries within the same activity to keep a `Retry-After` to the millisecond; for longer waits the
 * activity ends, and Temporal begins the next attempt. The record holds the failure count and the
 * current model, so both outlive the worker.
 *
 * @throws AttemptOver, AttemptFailure
 */
export function retries({ store, logger }: ActivityDeps): StepMiddleware {
  return (step) => {
    const { ref, attempt, writer, progress, agent, claim, chunks } = step;
    // Time of the step's first failure, by this process's clock.
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
        for (const tell of request.recorded) tell(usage);
        if (isLong) {
          throw new AttemptFailure('the model provider fails and is asked again later', {
            type: 'provider_wait',
            afterMs: wait,
            isExpected: true,
          });
        }
        // A signal ends the wait early; the next request checks the signal.
        await sleep(wait, attempt.signal);
        const turn = then.kind === 'next' ? then.turn : request.turn;
        request = toRequest(step, turn, addUsage(request.used, usage));
      }
    };
  };
}

/** Default number of requests to a model that has a successor. */
const TRIES = 2;

/**
 * Returns true for failures of one model or its provider, for which another model may answer. A
 * refused setting is the agent's.
 */
function isOfModel(code: string): boolean {
  if (code === 'provider_settings_refused') return false;
  return /^(provider|model)_/.test(code) || isOfPrompt(code);
}

/** Reaction to a failure: wait and ask the same model, move to the next model, or give up. */
export type NextTry = { kind: 'wait'; ms: number } | { kind: 'next'; turn: Fallback } | 'failed';

/** Returns the agent's models in the order of requests. Pure. */
export function modelsOf({ model, models }: LlmConfig): readonly [ModelChoice, ...ModelChoice[]] {
  const [first, ...others] = models ?? [];
  return first === undefined ? [{ model }] : [first, ...others];
}

/**
 * Returns an attempt's first turn: that of the model which an earlier attempt reached, so that a
 * new worker does not ask the models before it again. A release may have shortened the list in
 * between. Pure.
 */
export function firstTurn(
  models: readonly ModelChoice[],
  { index, before }: Fallback = { index: 0, before: 0 },
): Fallback {
  return { index: Math.min(index, models.length - 1), before };
}

/**
 * Decides what follows a failure of the current model. The next model is asked at once when this
 * one has used up its tries, cannot be retried, or demands a long wait. Pure.
 *
 * @param failing number of the step's failures with this one, and time since the first, ms
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
  const max = models[turn.index]?.maxTries ?? (isLast ? Infinity : TRIES);
  const budget = { maxTries: Math.min(max, maxTries - turn.before), retryForMs };
  const wait = failure.retryable
    ? nextWait({ failures: ofModel, forMs }, failure.retryAfterMs, budget, random)
    : undefined;
  if (isLast || !isOfModel(failure.code))
    return wait === undefined ? 'failed' : { kind: 'wait', ms: wait };
  if (wait !== undefined && wait <= LIMITS.waitInPlaceMs) return { kind: 'wait', ms: wait };
  if (failures >= maxTries || forMs >= retryForMs) return 'failed';
  return { kind: 'next', turn: { index: turn.index + 1, before: failures } };
}

/** Returns the failure of a step whose models all failed; only the log names each model's. */
export function allFailed(models: readonly ModelChoice[], last: ProviderFailure): ProviderFailure {
  if (models.length === 1 || !isOfModel(last.code)) return last;
  return {
    code: 'models_failed',
    message: 'None of the models could answer.',
    retryable: last.retryable,
    newest: last.code,
  };
}

/** Back-off of retries; a recovered provider is noticed within `mostMs`. */
const RETRY = { firstMs: 250, mostMs: 30_000, jitter: 0.5 };

/** Failures after which the back-off bounds a wait of the provider's from below: it may name 0 each time. */
const TRUSTED = 3;

/** Longest delay of the last try past the budget's end; it spreads the runs' requests. */
const SPREAD_MS = 2_000;

/**
 * Returns the wait before the next request, ms; undefined if the provider has failed for too long
 * or announces a return past the budget.
 *
 * @param random returns 0 to 1 and spreads the retries of runs that met one outage
 */
export function nextWait(
  { failures, forMs }: { failures: number; forMs: number },
  retryAfterMs: number | undefined,
  config: Pick<LlmConfig, 'maxTries' | 'retryForMs'>,
  random: () => number = Math.random,
): number | undefined {
  const { maxTries = Infinity, retryForMs = LIMITS.retryForMs } = config;
  if (failures >= maxTries || forMs >= retryForMs) return undefined;
  const left = retryForMs - forMs;
  const backOff = (attempt: number): number =>
    Math.min(retryDelay({ attempt, ...RETRY, random }), left + random() * SPREAD_MS);
  if (retryAfterMs === undefined) return Math.round(backOff(failures));
  if (retryAfterMs > left) return undefined;
  const spread = random() * Math.min(SPREAD_MS, retryAfterMs / 10);
  const min = failures > TRUSTED ? backOff(failures - TRUSTED) : 0;
  return Math.round(Math.max(retryAfterMs + spread, min));
}
