import { formatInt } from './host.js';
import { dropFields, num, setFields } from './root.js';
import type { Session } from './session.js';
import { sessionsBelow } from './walk.js';

/** Notes the earliest deadline of the calls that wait in the conversation. */
export function noteDeadline({ conversation }: Session): void {
  const deadlines: string[] = [];
  for (const { calls } of sessionsBelow(conversation)) {
    for (const { state, deadline } of calls) {
      if (state === 'waiting' && deadline !== undefined) deadlines.push(deadline);
    }
  }
  noteEarliest(conversation, deadlines);
}

/** The same, of those deadlines; returns it. */
export function noteEarliest(
  conversation: Session,
  deadlines: readonly string[],
): number | undefined {
  let first: number | undefined;
  for (const deadline of deadlines) {
    const ms = num(deadline);
    if (first === undefined || ms < first) first = ms;
  }
  if (first === undefined) dropFields(conversation, ['deadline']);
  else setFields(conversation, ['deadline', formatInt(first)]);
  return first;
}
