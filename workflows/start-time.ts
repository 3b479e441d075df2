import { condition } from '@temporalio/workflow';
import type { OperatorsView } from './operators-view.js';
import type { RunState } from './run-state.js';

/**
 * Waits for the time at which the run begins. A timer of the workflow, and not Temporal's start delay:
 * any signal ends that one early, and until then nothing answers operators.
 *
 * @returns false if the run was stopped meanwhile
 */
export async function untilStart(state: RunState, view: OperatorsView): Promise<boolean> {
  const { startAt = 0 } = state.input;
  const waitMs = startAt - Date.now();
  if (waitMs <= 0) return true;
  view.show('start', 0);
  const summary = 'start of the run';
  return !(await condition(() => state.carry.stopRequested, waitMs, { summary }));
}
