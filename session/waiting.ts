import { isTerminal } from '../protocol/run.js';
import type { Call } from './record.js';
import type { Session } from './tree.js';

export interface Found {
  session: Session;
  calls: Call[];
}

/** Returns a session, followed by those of its active or waiting sub-agents, in the order of the calls. */
export function sessionsBelow(session: Session): Found[] {
  const calls = session.openCalls();
  const below = calls.flatMap(({ child, state }) => {
    if (child === undefined || state === 'settled') return [];
    const found = session.tree.session(child.part);
    return found.record !== undefined && !isTerminal(found.record.run.status)
      ? sessionsBelow(found)
      : [];
  });
  return [{ session, calls }, ...below];
}

/** Returns true for a call that waits for people or for its webhook. */
export function isWaiting({ state }: Call): boolean {
  return state === 'waiting' || state === 'suspended';
}

export function noteDeadline(conversation: Session): number | undefined {
  const { run } = conversation.existing;
  const calls = sessionsBelow(conversation).flatMap((found) => found.calls.filter(isWaiting));
  const deadlines = calls.flatMap(({ deadline }) => deadline ?? []);
  if (deadlines.length === 0) delete run.deadline;
  else run.deadline = Math.min(...deadlines);
  return run.deadline;
}
