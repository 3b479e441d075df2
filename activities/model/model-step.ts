import { StateError } from '../../agents/tool-error.js';
import type { StepRef } from '../../protocol/temporal.js';
import { handOver, writerOf, type Attempt } from '../attempt.js';
import { cutOnStop } from '../cut-on-stop.js';
import type { WorkDeps } from '../deps.js';
import type { StepDone } from '../after-work.js';
import { AttemptOver, createEndStep, POISONED } from '../end-step.js';
import type { RunAgents } from '../run-agent.js';
import { prompts } from './call-options.js';
import { createCallModel, failures } from './call-model.js';
import { createClaimStep } from './claim-step.js';
import { compaction } from './compaction.js';
import { easing } from './eased-prompt.js';
import { retries, toRequest } from './retries.js';
import { createFinishHooks, isCompletion } from './finish-hooks.js';
import { inputHooks } from './input-hooks.js';
import { madeFiles } from './made-files.js';
import type { Ask, StepAttempt, StepMiddleware, StepProgress } from './middleware.js';
import { spendCap, timing } from './spending.js';
import { createStepCommit } from './step-commit.js';
import { stopConditions } from './stop-conditions.js';

/** Runs one attempt; keeps `progress` current. @throws AttemptFailure, AttemptCancelled */
export type ModelStep = (
  ref: StepRef,
  attempt: Attempt,
  progress: StepProgress,
) => Promise<StepDone>;

/** Returns the middleware around each request to a model, the first outermost. */
function middlewareOf(deps: WorkDeps): StepMiddleware[] {
  return [
    retries(deps),
    stopConditions,
    spendCap,
    compaction(deps),
    timing(deps),
    failures,
    madeFiles(deps),
    prompts(deps),
    // A summary of the conversation may have used up the rest.
    spendCap,
    ...(deps.middleware ?? []).map(({ request }) => request),
    easing,
    inputHooks,
  ];
}

/** Runs one step: claims it, streams the model's reply into the log, and commits it. */
export function createModelStep(deps: WorkDeps, runAgents: RunAgents): ModelStep {
  const { logger } = deps;
  const claimStep = createClaimStep(deps, runAgents);
  const endStep = createEndStep(deps);
  const callFinishHooks = createFinishHooks(deps);
  const middleware = middlewareOf(deps);
  const callModel = createCallModel(deps);

  return async (ref, attempt, progress) => {
    const writer = writerOf(ref, attempt.token);
    const unlisten = cutOnStop(deps, ref, attempt);
    try {
      const current = { ref, attempt, writer, progress };
      return await runStep(current).catch((error: unknown) => {
        if (!(error instanceof AttemptOver)) throw error;
        return endStep(ref, attempt, error.over);
      });
    } catch (error) {
      const { runId, step } = ref;
      const isState = error instanceof StateError;
      if (!isState && !(await handOver(deps, attempt, writer, error))) throw error;
      logger.warn({ err: error, runId, step }, 'the step cannot be carried out');
      const code = isState ? error.code : 'framework_internal_error';
      return await endStep(ref, attempt, { kind: 'failed', error: { code, ...POISONED } });
    } finally {
      unlisten();
    }
  };

  async function runStep(current: StepAttempt): Promise<StepDone> {
    const { sessionId, runId, step } = current.ref;
    const claimed = await claimStep(current);
    if (claimed.kind === 'not_ready') return claimed;
    const { agent } = claimed;
    if (claimed.kind === 'done') {
      // An earlier attempt may have died between the commit and the agent's hooks.
      const { outcome } = claimed;
      if (!('step' in outcome)) return outcome;
      const isLast = isCompletion(outcome);
      await callFinishHooks({ agent, sessionId, runId, step: outcome.step, isLast });
      return outcome;
    }
    const ask = middleware.reduceRight<Ask>((next, each) => {
      const around = each(claimed);
      return (request) => around(request, next);
    }, callModel);
    const { request, failure, isOver = false } = await ask(toRequest(claimed));
    const commit = createStepCommit(deps, request);
    if (current.attempt.cutReason() === 'stop') return commit.stopped();
    if (failure !== undefined) return commit.failed(failure);
    const outcome = isOver ? await commit.over() : await commit.complete();
    const isLast = isCompletion(outcome);
    await callFinishHooks({ agent, sessionId, runId, step, isLast, isKnown: isOver });
    return outcome;
  }
}
