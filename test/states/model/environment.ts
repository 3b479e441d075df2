import type { RunName } from './plan.js';

/** The clock stands still, but for one jump that is longer than any deadline. */
export type Clock = 0 | 1;

const START = 1_700_000_000_000;
const JUMP_MS = 3_600_000;

export function timeAt(clock: Clock): number {
  return START + clock * JUMP_MS;
}

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
  /** The record has told it that its run is over; it waits for what is in progress. */
  readonly isOver: boolean;
}

/**
 * A process between two requests. It is an attempt of an activity, which carries out `model`, a call by
 * its id, `end`, or a `look` at the record; or it is the `api` or the `sweep`, which ends a run from outside.
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
  /** It reads what its run does next. */
  | 'read'
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

/** Grows with each attempt; what takes a writer over has a token between two attempts'. */
export function tokenOf({ n }: Actor): number {
  return n * 10;
}

function firstStage({ run, what, step }: Actor): Stage {
  if (what === 'model') return run === 'sub' && step === 1 ? 'begin' : 'claim';
  if (what === 'end') return 'end';
  return what === 'd' ? 'look' : 'start';
}

/** The next attempt, beside this one or in its place. */
export function nextAttempt(env: Environment, actor: Actor): Environment {
  const { run, what, step, n } = actor;
  const isWriter = what !== 'end' && what !== 'd';
  const next = { run, what, step, n: isWriter ? n + 1 : n, isZombie: false };
  return addActor(env, { ...next, at: firstStage(actor) });
}

/** The attempt has failed; the next one follows if a workflow waits for it. */
export function retry(env: Environment, actor: Actor): Environment {
  const rest = withoutActor(env, actor);
  return actor.isZombie ? rest : nextAttempt(rest, actor);
}

/** Workflows and actors are never changed, and are part of many environments. */
const texts = new WeakMap<Workflow | Actor, string>();

/** Two workflows with the same text decide the same from now on. */
export function workflowText(workflow: Workflow): string {
  let text = texts.get(workflow);
  if (text === undefined) {
    const { run, isOpen, isOver } = workflow;
    text = `${run}${isOpen ? ' open' : ''}${isOver ? ' over' : ''}`;
    texts.set(workflow, text);
  }
  return text;
}

/** As traces show it. */
export function actorText(actor: Actor): string {
  let text = texts.get(actor);
  if (text === undefined) {
    const { run, what, step, n, at, isZombie, token, failures, batch } = actor;
    text = `${isZombie ? 'zombie ' : ''}${run} ${what} ${String(step)}, attempt ${String(n)}: ${at}`;
    if (token !== undefined) text += ` ${String(token)}`;
    if (batch !== undefined) text += `, batch ${String(batch)}`;
    if (failures !== undefined) text += `, ${String(failures)} failed`;
    texts.set(actor, text);
  }
  return text;
}
