import { decideSweep } from '../../../../runs/sweep-session.js';
import { addActor, workflowOf, type Environment } from '../environment.js';
import { nameOfRun, type RunName } from '../plan.js';
import type { Facts } from '../record/facts.js';
import { signalLook, startWorkflow, wakeEach } from '../workflows.js';
import type { Action } from './action.js';
import { queueActions } from './messages.js';

/** A record is swept after this long without a change; jumps of the clock do not count. */
const SILENT_MS = 10_000;

/**
 * Expiry of calls is a separate action. The model leaves out how long a run waits for its start:
 * the sweep may give it up at any time, or never.
 */
export function sweepActions(env: Environment, { record }: Facts): Action[] {
  const run = nameOfRun(record?.runId ?? '');
  if (record === undefined || run === undefined) return [];
  const workflow = workflowOf(env, run);
  const state = workflow === undefined ? 'unknown' : workflow.isOpen ? 'running' : 'closed';
  const sweep = (then: () => Environment): Action => ({ name: 'sweep', isFair: true, then });
  const wake = (): Environment => wakeEach(signalLook(env, run), record.wakes ?? []);
  const moment = { now: record.updatedAt + SILENT_MS, startWithinMs: Infinity };
  switch (decideSweep(record, state, moment)) {
    case 'begin':
      return queueActions(env, record, true);
    case 'start': {
      const start = sweep(() => startWorkflow(env, run, record.runFromStep));
      if (record.status !== 'starting') return [start];
      const giveUp = (): Environment => close(env, run, 'sweep');
      return [start, { name: 'sweep gives up', isFair: false, then: giveUp }];
    }
    case 'wake':
      return [sweep(wake)];
    case 'stop':
      return [sweep(() => signalLook(env, run))];
    case 'enforce':
      return [sweep(() => close(env, run, 'api'))];
    case 'fail':
      return [sweep(() => close(env, run, 'sweep'))];
    default:
      return [];
  }
}

/** Ends the run from outside, for a stop (API) or as lost (sweep); one such process suffices. */
function close(env: Environment, run: RunName, what: 'api' | 'sweep'): Environment {
  if (env.actors.some((actor) => actor.what === what)) return env;
  return addActor(env, { run, what, step: 0, n: 1, at: 'take over', isZombie: false });
}
