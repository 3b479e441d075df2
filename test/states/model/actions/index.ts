import { spend, type Environment } from '../environment.js';
import type { Facts } from '../record/facts.js';
import { closeWorkflow } from '../workflows.js';
import type { Action } from './action.js';
import { actorActions } from './actors.js';
import { answerActions } from './answers.js';
import { messageActions } from './messages.js';
import { stopActions } from './stops.js';
import { sweepActions } from './sweep.js';

export function actionsOf(env: Environment, facts: Facts): Action[] {
  return [
    ...actorActions(env, facts),
    ...messageActions(env, facts),
    ...answerActions(env, facts),
    ...stopActions(env, facts),
    ...sweepActions(env, facts),
    ...terminations(env),
    ...jump(env),
  ];
}

function terminations(env: Environment): Action[] {
  if (env.left.faults === 0) return [];
  return env.workflows
    .filter(({ isOpen }) => isOpen)
    .map(({ run }) => ({
      name: `workflow of ${run} terminated`,
      isFair: false,
      then: () => closeWorkflow(spend(env, 'faults'), run),
    }));
}

function jump(env: Environment): Action[] {
  if (env.left.jumps === 0) return [];
  const then = (): Environment => ({ ...spend(env, 'jumps'), clock: 1 });
  return [{ name: 'all deadlines pass', isFair: false, then }];
}
