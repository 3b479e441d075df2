import type { Next } from '../../../protocol/run.js';
import type { Wake } from '../../../store/contract/call-record.js';
import { withinCap } from '../../../run/loop.js';
import {
  addActor,
  withActor,
  withWorkflow,
  withoutActor,
  workflowOf,
  type Actor,
  type Environment,
} from './environment.js';
import { callOf, nameOfRun, type RunName } from './plan.js';
import type { Facts } from './record/facts.js';
import type { Reply } from './record/play.js';

/**
 * Workflows that follow their record, as run/loop does. They act as soon as they have read it.
 * Their activities are separate actors, which read the record when they are done.
 */

const CAP = { maxSteps: 9 };

/** @param committed steps that an earlier run of the turn has committed */
export function startWorkflow(env: Environment, run: RunName, committed = 0): Environment {
  if (workflowOf(env, run) !== undefined) return env;
  const workflows = [...env.workflows, { run, isOpen: true, isOver: false }];
  return follow({ ...env, workflows }, run, { do: 'model', step: committed + 1 });
}

/** Lets every actor that is about to read the record do so before anything else happens. */
export function readAll(env: Environment, facts: Facts): Environment {
  const reader = env.actors.find(({ at }) => at === 'read');
  return reader === undefined ? env : readAll(adopt(env, reader, facts), facts);
}

/** Follows the record after an activity or a workflow has read it. */
function adopt(env: Environment, actor: Actor, { nextOf }: Facts): Environment {
  const { run } = actor;
  const rest = withoutActor(env, actor);
  const workflow = workflowOf(rest, run);
  if (workflow?.isOpen !== true) return rest;
  if (workflow.isOver) return closeIfIdle(rest, run);
  const next = withinCap(nextOf(run), CAP);
  // Another actor ends a step that was not committed.
  const isLeft = actor.what === 'model' && next.do === 'model' && next.step === actor.step;
  return isLeft ? rest : follow(rest, run, next);
}

function follow(env: Environment, run: RunName, next: Next): Environment {
  switch (next.do) {
    case 'model': {
      const { step } = next;
      const at = run === 'sub' && step === 1 ? 'begin' : 'claim';
      return beginAlone(env, { run, what: 'model', step, n: 1, at, isZombie: false });
    }
    case 'open': {
      const { machine = [], children = [] } = next;
      return [...machine, ...children].reduce(schedule, env);
    }
    case 'end':
      return beginAlone(env, {
        run,
        what: 'end',
        step: next.step,
        n: 1,
        at: 'end',
        isZombie: false,
      });
    case 'done':
      return closeIfIdle(askChildren(withWorkflow(env, run, { isOver: true }), run), run);
  }
}

/** Begins an actor once all earlier work of the run is over. */
function beginAlone(env: Environment, actor: Actor): Environment {
  const isAtWork = env.actors.some((other) => other.run === actor.run && isAwaited(other));
  return isAtWork ? env : addActor(env, actor);
}

/** Begins an actor unless it is in progress. */
function begin(env: Environment, actor: Actor): Environment {
  const isAtWork = env.actors.some(
    ({ run, what, isZombie }) => run === actor.run && what === actor.what && !isZombie,
  );
  return isAtWork ? env : addActor(env, actor);
}

function schedule(env: Environment, id: string): Environment {
  const { run, step, child } = callOf(id);
  const actor = { run, what: id, step, n: 1, isZombie: false } as const;
  if (child === undefined) return begin(env, { ...actor, at: 'start' });
  const begun = begin(env, { ...actor, at: 'wait' });
  return begun === env ? env : startWorkflow(begun, child);
}

/** Signals the workflows of sub-agents, which the record ended together with their run. */
function askChildren(env: Environment, of: RunName): Environment {
  const waits = env.actors.filter(
    ({ run, at, isZombie }) => run === of && at === 'wait' && !isZombie,
  );
  return waits.reduce((asked, { what }) => {
    const { child } = callOf(what);
    return child === undefined ? asked : signalLook(asked, child);
  }, env);
}

function closeIfIdle(env: Environment, run: RunName): Environment {
  const isAtWork = env.actors.some((actor) => actor.run === run && isAwaited(actor));
  return isAtWork ? env : closeWorkflow(env, run);
}

/** Returns true for activities that a workflow waits for. */
export function isAwaited({ isZombie, what }: Actor): boolean {
  return !isZombie && what !== 'api' && what !== 'sweep';
}

export function finishActor(env: Environment, actor: Actor): Environment {
  return isAwaited(actor) ? withActor(env, actor, { at: 'read' }) : withoutActor(env, actor);
}

/** Closes a workflow that ended or was terminated; its activities go on without it. */
export function closeWorkflow(env: Environment, run: RunName): Environment {
  let closed = withWorkflow(env, run, { isOpen: false, isOver: false });
  for (const actor of closed.actors) {
    if (actor.run !== run || !isAwaited(actor)) continue;
    closed =
      actor.at === 'wait' || actor.at === 'read'
        ? withoutActor(closed, actor)
        : withActor(closed, actor, { isZombie: true });
  }
  const parent = closed.actors.find(({ what, at }) => {
    return at === 'wait' && callOf(what).child === run;
  });
  return parent === undefined ? closed : withActor(closed, parent, { at: 'look' });
}

export function signalLook(env: Environment, run: RunName): Environment {
  if (workflowOf(env, run)?.isOpen !== true) return env;
  return begin(env, { run, what: 'look', step: 0, n: 1, at: 'read', isZombie: false });
}

/** Signals the answered run and other runs that a stored answer lets continue. */
export function wakeAll(env: Environment, run: RunName, reply: Reply): Environment {
  return wakeOthers(reply['resume'] === undefined ? env : signalLook(env, run), reply);
}

export function wakeOthers(env: Environment, reply: Reply): Environment {
  return wakeEach(env, (reply['others'] as Wake[] | undefined) ?? []);
}

export function wakeEach(env: Environment, wakes: readonly Wake[]): Environment {
  return wakes.reduce((woken, { runId }) => {
    const run = nameOfRun(runId);
    return run === undefined ? woken : signalLook(woken, run);
  }, env);
}
