import type { RunName } from './plan.js';

/** The clock stands still except for one jump, which passes every deadline. */
export type Clock = 0 | 1;

const START = 1_700_000_000_000;
const JUMP_MS = 3_600_000;

export function timeAt(clock: Clock): number {
  return START + clock * JUMP_MS;
}

/** The part of a state that is not stored: the actors' next moves. It is immutable. */
export interface Environment {
  clock: Clock;
  left: Budget;
  workflows: readonly Workflow[];
  actors: readonly Actor[];
  /** Unsettled calls: `x` and the id of an executed one, `y` of an approved one. */
  marks: readonly string[];
}

/** Remaining count of each event, which bounds the exploration. */
export interface Budget {
  messages: number;
  stops: number;
  /** Deaths of processes, losses of replies and signals, terminations of workflows. */
  faults: number;
  /** Live attempts whose lease is declared lost. */
  leases: number;
  /** Jumps of the clock past all deadlines. */
  jumps: number;
}

export interface Workflow {
  readonly run: RunName;
  readonly isOpen: boolean;
  /** True once the record has told it that its run is over; it then waits for work in progress. */
  readonly isOver: boolean;
}

/**
 * A process between two requests: either an attempt of an activity, which executes `model`, a call
 * by its id, `end`, or a `look` at the record; or the `api` or the `sweep`, which end a run from
 * outside.
 */
export interface Actor {
  readonly run: RunName;
  readonly what: string;
  readonly step: number;
  readonly n: number;
  readonly at: Stage;
  /** True if its workflow does not wait for it. */
  readonly isZombie: boolean;
  /** Token with which it took over a writer. */
  readonly token?: number;
  /** Number of provider failures in its step. */
  readonly failures?: number;
  /** Number of times that it began its reply; absent if once. */
  readonly batch?: number;
}

export type Stage =
  | ('begin' | 'claim' | 'append' | 'commit' | 'commit cut' | 'discard')
  | ('start' | 'settle')
  | ('wait' | 'look')
  /** The actor reads its run's next work. */
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

/** Grows with each attempt; a takeover's token lies between two attempts'. */
export function tokenOf({ n }: Actor): number {
  return n * 10;
}

function firstStage({ run, what, step }: Actor): Stage {
  if (what === 'model') return run === 'sub' && step === 1 ? 'begin' : 'claim';
  if (what === 'end') return 'end';
  return what === 'd' ? 'look' : 'start';
}

/** Starts the next attempt, while this one runs or in its place. */
export function nextAttempt(env: Environment, actor: Actor): Environment {
  const { run, what, step, n } = actor;
  const isWriter = what !== 'end' && what !== 'd';
  const next = { run, what, step, n: isWriter ? n + 1 : n, isZombie: false };
  return addActor(env, { ...next, at: firstStage(actor) });
}

/** Removes a failed attempt and starts the next one if a workflow waits for it. */
export function retry(env: Environment, actor: Actor): Environment {
  const rest = withoutActor(env, actor);
  return actor.isZombie ? rest : nextAttempt(rest, actor);
}

/** Workflows and actors are immutable and shared by many environments, so texts are cached. */
const texts = new WeakMap<Workflow | Actor, string>();

/** Returns a text that is equal for workflows with the same future. */
export function workflowText(workflow: Workflow): string {
  let text = texts.get(workflow);
  if (text === undefined) {
    const { run, isOpen, isOver } = workflow;
    text = `${run}${isOpen ? ' open' : ''}${isOver ? ' over' : ''}`;
    texts.set(workflow, text);
  }
  return text;
}

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
