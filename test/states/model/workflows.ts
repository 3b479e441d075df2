import type { StepOutcome, Resumption } from '../../../protocol/run.js';
import {
  afterCalls,
  afterStep,
  approvedOf,
  firstStep,
  releasedFor,
  startingCarry,
  takeAnswer,
  takeReleased,
  takeStep,
  type Next,
} from '../../../protocol/carry.js';
import {
  addActor,
  withActor,
  withWorkflow,
  withoutActor,
  workflowOf,
  type Actor,
  type Environment,
} from './environment.js';
import type { Wake } from '../../../stores/contract/call-record.js';
import { callOf, nameOfRun, type RunName } from './plan.js';
import type { Reply } from './record/play.js';

/**
 * Workflows, which decide by protocol/carry. They decide as soon as they can; the activities that they
 * ask for are actors of their own.
 */

const CAP = { maxSteps: 9 };

/** @param committed steps that an earlier run of the turn has committed; one that was started is not started again */
export function startWorkflow(env: Environment, run: RunName, committed = 0): Environment {
  if (workflowOf(env, run) !== undefined) return env;
  const carry = { ...startingCarry(undefined), step: committed };
  const started = { run, isOpen: true, carry, at: 'model', step: 0 } as const;
  const workflows = [...env.workflows, { ...started, calls: [], people: 'answered' as const }];
  return follow({ ...env, workflows }, run, firstStep(carry, CAP));
}

/** The model step has returned. */
export function takeOutcome(env: Environment, run: RunName, outcome: StepOutcome): Environment {
  const workflow = workflowOf(env, run);
  if (workflow?.isOpen !== true) return env;
  const carry = takeStep(workflow.carry, outcome);
  return follow(
    withWorkflow(env, run, { carry }),
    run,
    afterStep(carry, workflow.step, outcome, CAP),
  );
}

function follow(env: Environment, run: RunName, next: Next): Environment {
  switch (next.do) {
    case 'model': {
      const { step } = next;
      const at = run === 'sub' && step === 1 ? 'begin' : 'claim';
      const asked = withWorkflow(env, run, { at: 'model', step });
      return addActor(asked, { run, what: 'model', step, n: 1, at, isZombie: false });
    }
    case 'calls': {
      const { step, calls } = next.step;
      const people = next.people.length > 0 ? 'waiting' : 'answered';
      let waiting = withWorkflow(env, run, { at: 'calls', step, calls, people });
      for (const { toolCallId } of next.machine) waiting = schedule(waiting, toolCallId);
      return proceed(waiting, run);
    }
    case 'wait': {
      const { step } = next;
      const carry = { ...startingCarry(undefined), ...workflowOf(env, run)?.carry, step };
      const waiting = { at: 'calls', step, calls: [], people: 'waiting', carry } as const;
      return proceed(withWorkflow(env, run, waiting), run);
    }
    case 'end': {
      const step = workflowOf(env, run)?.carry.step ?? 0;
      const asked = withWorkflow(env, run, { at: 'end' });
      return addActor(asked, { run, what: 'end', step, n: 1, at: 'end', isZombie: false });
    }
    case 'done':
      return closeWorkflow(env, run);
  }
}

function schedule(env: Environment, id: string): Environment {
  const { run, step, child } = callOf(id);
  const actor = { run, what: id, step, n: 1, isZombie: false } as const;
  if (child === undefined) return addActor(env, { ...actor, at: 'start' });
  const started = startWorkflow(addActor(env, { ...actor, at: 'wait' }), child);
  return workflowOf(env, run)?.carry.stopRequested === true ? signalStop(started, child) : started;
}

/** What a workflow that carries out calls does when something has changed. */
export function proceed(env: Environment, run: RunName): Environment {
  const workflow = workflowOf(env, run);
  if (workflow?.isOpen !== true || workflow.at !== 'calls') return env;
  const { step, calls, people, carry } = workflow;
  if (people === 'waiting') {
    const approved = releasedFor(carry, step);
    if (approved === undefined && !carry.stopRequested) return env;
    let next = withWorkflow(env, run, {
      people: approved === undefined ? 'stopped' : 'answered',
      carry: takeReleased(carry, step),
    });
    for (const { toolCallId } of approvedOf(calls, approved?.approved ?? []))
      next = schedule(next, toolCallId);
    return proceed(next, run);
  }
  if (env.actors.some((actor) => actor.run === run && isAwaited(actor))) return env;
  if (people === 'stopped') return follow(env, run, { do: 'end', status: 'interrupted' });
  return follow(env, run, afterCalls(carry, CAP));
}

/** True for activities that a workflow waits for. */
export function isAwaited({ isZombie, what }: Actor): boolean {
  return !isZombie && what !== 'api' && what !== 'sweep';
}

/** An activity has returned. */
export function finishActor(env: Environment, actor: Actor): Environment {
  const rest = withoutActor(env, actor);
  return isAwaited(actor) ? proceed(rest, actor.run) : rest;
}

/** The workflow has ended, or was terminated; activities that it had asked for run without it. */
export function closeWorkflow(env: Environment, run: RunName): Environment {
  let closed = withWorkflow(env, run, { isOpen: false });
  for (const actor of closed.actors) {
    if (actor.run !== run || !isAwaited(actor)) continue;
    closed =
      actor.at === 'wait'
        ? withoutActor(closed, actor)
        : withActor(closed, actor, { isZombie: true });
  }
  const parent = closed.actors.find(({ what, at }) => {
    return at === 'wait' && callOf(what).child === run;
  });
  return parent === undefined ? closed : withActor(closed, parent, { at: 'look' });
}

/** The `answer` signal: a completed batch lets the run continue. */
export function signalAnswer(env: Environment, run: RunName, resume: Resumption): Environment {
  const workflow = workflowOf(env, run);
  if (workflow?.isOpen !== true) return env;
  const carry = takeAnswer(workflow.carry, { resume });
  return proceed(withWorkflow(env, run, { carry }), run);
}

/** The `stop` signal; a workflow that waits for a sub-agent sends it on. */
export function signalStop(env: Environment, run: RunName): Environment {
  const workflow = workflowOf(env, run);
  if (workflow?.isOpen !== true) return env;
  const carry = { ...workflow.carry, stopRequested: true };
  const stopped = proceed(withWorkflow(env, run, { carry }), run);
  const parent = stopped.actors.find((actor) => actor.run === run && actor.at === 'wait');
  const child = parent && callOf(parent.what).child;
  return child === undefined ? stopped : signalStop(stopped, child);
}

/** Signals the run that asked, and the others that a stored answer lets continue. */
export function wakeAll(env: Environment, run: RunName, reply: Reply): Environment {
  const resume = reply['resume'] as Resumption | undefined;
  return wakeOthers(resume === undefined ? env : signalAnswer(env, run, resume), reply);
}

export function wakeOthers(env: Environment, reply: Reply): Environment {
  return wakeEach(env, (reply['others'] as Wake[] | undefined) ?? []);
}

export function wakeEach(env: Environment, wakes: readonly Wake[]): Environment {
  let woken = env;
  for (const { runId, resume } of wakes) {
    const run = nameOfRun(runId);
    if (run !== undefined) woken = signalAnswer(woken, run, resume);
  }
  return woken;
}
