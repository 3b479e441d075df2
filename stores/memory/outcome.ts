import { isTerminal, type StepOutcome } from '../../protocol/run.js';
import { fromJson } from './json.js';
import type { MemoryRun } from './session.js';

/**
 * What a step that is committed already left to do; a run that ended elsewhere has nothing more to
 * do, whatever that was.
 */
export function outcomeOf(
  run: MemoryRun,
): { kind: 'done'; outcome: StepOutcome } | { kind: 'superseded' } {
  const outcome = run.outcome === undefined ? undefined : fromJson(run.outcome);
  if (outcome === undefined || (isTerminal(run.status) && outcome.kind !== 'ended')) {
    return { kind: 'superseded' };
  }
  return { kind: 'done', outcome };
}
