import { condition, workflowInfo } from '@temporalio/workflow';
import {
  afterCalls,
  approvedOf,
  needsWorkflow,
  takeLeg,
  toProgress,
  type Next,
} from '../protocol/carry.js';
import { untilKept } from './lost-attempts.js';
import type { OperatorsView } from './operators-view.js';
import { legs } from './proxies.js';
import { runRef, type RunState } from './run-state.js';
import { carryOut } from './step-calls.js';
import { createWaits, untilAnswered } from './waiting.js';

/**
 * Carries a run of the shape `leg` on: by one activity as far as that gets, and by the workflow where
 * people answer, or where a call needs a sub-agent or an activity of its own.
 */
export async function carryOn(
  state: RunState,
  view: OperatorsView,
  next: Extract<Next, { do: 'model' | 'calls' }>,
): Promise<Next | 'stopped'> {
  if (next.do === 'model') return runLeg(state, view, next);
  const { step, machine, people } = next;
  const isMixed = machine.length > 0 && people.length > 0;
  if (isMixed || machine.some(needsWorkflow)) return carryOut(state, view, next);
  if (machine.length > 0) return runLeg(state, view, next);
  view.show('waiting', step.step, people);
  const answered = await untilAnswered(state, step.step, createWaits(people));
  if (answered === 'stopped') return 'stopped';
  const released = answered === 'over' ? [] : approvedOf(step.calls, answered.approved);
  return released.length > 0
    ? { do: 'calls', step, machine: released, people: [] }
    : afterCalls(state.carry, state.input);
}

async function runLeg(
  state: RunState,
  view: OperatorsView,
  next: Extract<Next, { do: 'model' | 'calls' }>,
): Promise<Next | 'stopped'> {
  const { input } = state;
  const isModel = next.do === 'model';
  const first = isModel ? next.step : next.step.step;
  view.show(isModel ? 'model' : 'tools', first, isModel ? [] : next.machine);
  const { turn, maxSteps, hasOutput, parent } = input;
  const progress = toProgress(state.carry);
  // Where people answer in each step, the workflow itself begins no model step.
  const endsSoon = workflowInfo().continueAsNewSuggested ? true : undefined;
  const running = untilKept(input, (options, lease) =>
    legs.leg.executeWithOptions({ summary: `from step ${String(first)}`, ...options }, [
      { ...runRef(state), turn, maxSteps, hasOutput, parent, progress, next, endsSoon, ...lease },
    ]),
  );
  // A leg that waits for its provider does not delay a stop, which has ended the run in the record.
  await Promise.race([running, condition(() => state.isEnded)]);
  if (state.isEnded) {
    running.catch(() => undefined);
    return 'stopped';
  }
  const outcome = await running;
  const taken = takeLeg(state.carry, outcome, input);
  state.carry = taken.carry;
  state.error = outcome.error;
  view.spent(outcome.spent);
  view.steps(outcome.steps);
  return taken.next;
}
