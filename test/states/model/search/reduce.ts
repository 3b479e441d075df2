import { tokenOf, type Actor, type Environment, type Workflow } from '../environment.js';
import { callOf } from '../plan.js';
import { isLive, recordOf, type Facts } from '../record/facts.js';
import { modelWriter } from '../requests.js';
import { readAll } from '../workflows.js';

/**
 * Merges environments that have the same future with the record by removing actors that can change
 * nothing any more: fenced ones and those of ended runs. Every record is checked to refuse their
 * requests (see requests/stale).
 */
export function reduce(before: Environment, facts: Facts): Environment {
  const env = readAll(before, facts);
  const workflows = inOrder(env.workflows.filter(({ run }) => isLive(facts, run)));
  let actors = env.actors.filter((actor) => isLive(facts, actor.run) && !isFenced(actor, facts));
  if (actors.some(({ n }) => n > 1)) actors = actors.map((each) => renumber(each, actors, facts));
  if (!isLive(facts, 'sub')) actors = actors.map(endWait);
  const isTimeless = env.left.jumps > 0 && !mayExpire(facts);
  const reduced = {
    clock: isTimeless ? (1 as const) : env.clock,
    left: isTimeless ? { ...env.left, jumps: 0 } : env.left,
    workflows: same(workflows, env.workflows),
    actors: same(actors, env.actors),
    marks: same(
      env.marks.filter((mark) => isOpen(facts, mark.slice(1))),
      env.marks,
    ),
  };
  // Most environments are reduced already, and caches find them by identity, so the object is kept.
  const isSame = reduced.workflows === env.workflows && reduced.actors === env.actors;
  return isSame && reduced.marks === env.marks && !isTimeless ? env : reduced;
}

/** Returns the earlier list if it has the same items. */
function same<Item>(list: readonly Item[], before: readonly Item[]): readonly Item[] {
  const isSame = list.length === before.length && list.every((item, at) => item === before[at]);
  return isSame ? before : list;
}

function inOrder(workflows: Workflow[]): Workflow[] {
  return workflows.length > 1 ? workflows.sort(byRun) : workflows;
}

/** Returns true if another attempt owns the writer, or the step or call is finished. */
function isFenced(actor: Actor, facts: Facts): boolean {
  if (!actor.isZombie || actor.what === 'end' || actor.what === 'd') return false;
  if (actor.what === 'model') {
    const { committedStep = 0 } = recordOf(facts, actor.run) ?? {};
    if (actor.step <= committedStep) return true;
  } else if (!isOpen(facts, actor.what)) {
    return true;
  }
  const owner = facts.owners.get(writerOf(actor));
  return owner !== undefined && owner > tokenOf(actor);
}

function writerOf(actor: Actor): string {
  const { run, step, what } = actor;
  return what === 'model' ? modelWriter({ run, step, token: 0 }).name : `t:${what}`;
}

/** Returns false for calls that their step has not opened yet; those have no actors. */
function isOpen({ calls }: Facts, id: string): boolean {
  const state = calls.get(id)?.state;
  return state !== undefined && state !== 'settled';
}

/** Renumbers attempts, of which only the order counts until one of them owns the writer. */
function renumber(actor: Actor, actors: readonly Actor[], facts: Facts): Actor {
  if (actor.n === 1 || facts.owners.has(writerOf(actor))) return actor;
  const before = actors.filter(
    ({ run, what, n }) => run === actor.run && what === actor.what && n < actor.n,
  );
  const n = before.length + 1;
  return n === actor.n ? actor : { ...actor, n };
}

/** Ends the wait for a sub-agent's workflow, which closes when its run has ended. */
function endWait(actor: Actor): Actor {
  return actor.at === 'wait' ? { ...actor, at: 'look' } : actor;
}

/** Returns true while a call with a deadline is open or may be opened. */
function mayExpire(facts: Facts): boolean {
  const { record } = facts;
  if (record === undefined) return true;
  if (!isLive(facts, 'one')) return false;
  const { step } = callOf('b');
  return record.committedStep < step || (record.committedStep === step && isOpen(facts, 'b'));
}

function byRun(a: Workflow, b: Workflow): number {
  return a.run < b.run ? -1 : 1;
}
