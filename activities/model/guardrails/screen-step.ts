import type { Guardrails } from '../../../agents/guardrails.js';
import type { HookPlace } from '../../../agents/step-hooks.js';
import type { StepRef } from '../../../protocol/activities.js';
import type { Row } from '../../../protocol/rows.js';
import type { Attempt } from '../../attempt.js';
import { AttemptCancelled } from '../../attempt-failure.js';
import type { ActivityDeps } from '../../deps.js';
import { toLoggedError, toProviderFailure, type ProviderFailure } from '../provider-failure.js';
import { screenInput, toScreenedRows, type Screening } from './screen-input.js';

interface Screened extends Screening {
  /** Why the model is not asked: a check failed. */
  failure?: ProviderFailure;
}

/** The checks of the input in an attempt at a step. */
export function createScreen(
  logger: ActivityDeps['logger'],
): (
  current: { ref: StepRef; attempt: Attempt },
  guardrails: Guardrails | undefined,
  rows: readonly Row[],
) => Promise<Screened> {
  return async ({ ref, attempt }, guardrails, rows) => {
    if (guardrails?.input === undefined) return { rows: toScreenedRows(rows) };
    try {
      return await screenInput(guardrails, rows, toPlace(ref), attempt.signal);
    } catch (error) {
      if (attempt.cancelled()) throw new AttemptCancelled('the worker shuts down');
      // A stop is found by what follows; the model is not asked in any case.
      const err = toLoggedError(error);
      logger.warn({ err, runId: ref.runId, step: ref.step }, 'a guardrail failed');
      return { rows, failure: toProviderFailure(error) };
    }
  };
}

/** The step that a check is asked for. Pure. */
export function toPlace({ sessionId, runId, step }: StepRef): HookPlace {
  return { sessionId, runId, step };
}
