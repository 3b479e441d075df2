import type { CallRef } from '../../../protocol/run.js';
import type { Carry } from '../../../protocol/carry.js';
import type { Clock } from './clock.js';
import type { RunName } from './plan.js';

/** All of a state that is not stored: who is about to do what. It is never changed, only replaced. */
export interface Environment {
  clock: Clock;
  left: Budget;
  workflows: readonly Workflow[];
  actors: readonly Actor[];
  /** Calls that are not settled yet: `x` and the id of one that was executed, `y` of one that was approved. */
  marks: readonly string[];
}

/** How often each may still happen: this bounds the exploration. */
export interface Budget {
  messages: number;
  stops: number;
  /** A process dies, a reply or a signal is lost, a workflow is terminated. */
  faults: number;
  /** The lease of a live attempt is declared lost. */
  leases: number;
  /** The clock passes all deadlines. */
  jumps: number;
}

export interface Workflow {
  readonly run: RunName;
  readonly isOpen: boolean;
  readonly carry: Carry;
  /** What it waits for. */
  readonly at: 'model' | 'calls' | 'end';
  /** The step that it has asked for, or whose calls are open. */
  readonly step: number;
  readonly calls: readonly CallRef[];
  readonly people: 'waiting' | 'answered' | 'stopped';
}

/**
 * A process between two requests. It is an attempt of an activity, which carries out `model`, a call by
 * its id, or `end`; or it is the `api` or the `sweep`, which ends a run from outside.
 */
export interface Actor {
  readonly run: RunName;
  readonly what: string;
  readonly step: number;
  /** Number of the attempt. */
  readonly n: number;
  /** What it does next. */
  readonly at: Stage;
  /** Its workflow does not wait for it. */
  readonly isZombie: boolean;
  /** The token with which it took a writer over. */
  readonly token?: number;
  /** Failures of the provider in its step. */
  readonly failures?: number;
  /** How often it has begun its reply, if more than once. */
  readonly batch?: number;
}

export type Stage =
  | ('begin' | 'claim' | 'append' | 'commit' | 'commit cut' | 'discard')
  | ('start' | 'settle')
  | ('wait' | 'look')
  | ('take over' | 'fold' | 'end');

export function workflowOf({ workflows }: Environment, run: RunName): Workflow | undefined {
  return workflows.find((workflow) => workflow.run === run);
}

export function withWorkflow(
  env: Environment,
  run: RunName,
  changes: Partial<Workflow>,
): Environment {
  const workflows = env.workflows.map((each) =>
    each.run === run ? { ...each, ...changes } : each,
  );
  return { ...env, workflows };
}

export function withActor(env: Environment, actor: Actor, changes: Partial<Actor>): Environment {
  const actors = env.actors.map((each) => (each === actor ? { ...each, ...changes } : each));
  return { ...env, actors };
}

export function withoutActor(env: Environment, actor: Actor): Environment {
  return { ...env, actors: env.actors.filter((each) => each !== actor) };
}

export function addActor(env: Environment, actor: Actor): Environment {
  return { ...env, actors: [...env.actors, actor] };
}

export function spend(env: Environment, what: keyof Budget): Environment {
  return { ...env, left: { ...env.left, [what]: env.left[what] - 1 } };
}
