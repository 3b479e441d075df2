import { addActor, withoutActor, type Actor, type Environment, type Stage } from './environment.js';

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
