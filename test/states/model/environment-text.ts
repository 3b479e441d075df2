import type { Actor, Workflow } from './environment.js';

/** Workflows and actors are never changed, and are part of many environments. */
const texts = new WeakMap<Workflow | Actor, string>();

/** Two workflows with the same text decide the same from now on. */
export function workflowText(workflow: Workflow): string {
  let text = texts.get(workflow);
  if (text === undefined) {
    const { run, isOpen, at, step, people, carry, calls } = workflow;
    text = isOpen ? `${run} ${at} ${String(step)}` : run;
    if (isOpen) {
      const { released, asked, stopRequested } = carry;
      if (at === 'calls') text += ` ${people} ${String(calls.length)}`;
      if (stopRequested) text += ' stopped';
      // What it has heard of earlier steps is never looked at again.
      const first = at === 'calls' ? step : step - 1;
      if (asked?.step === first) text += ' asked';
      const batches = released.filter((batch) => batch.step >= first);
      text += batches
        .map((batch) => ` ${String(batch.step)} (${batch.approved.toSorted().join()})`)
        .sort()
        .join('');
    }
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
