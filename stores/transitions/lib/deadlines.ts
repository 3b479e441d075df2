import { redis } from './host.js';
import { readCallsField } from './calls.js';
import { num } from './root.js';
import type { Session } from './session.js';
import { sessionsBelow } from './walk.js';

/** Stores the earliest deadline among the waiting calls of the conversation, and returns it. */
export function noteDeadline({ conversation }: Session): number | undefined {
  let first: number | undefined;
  for (const { session, states } of sessionsBelow(conversation)) {
    const deadlines = states.length === 0 ? [] : readCallsField(session, 'deadline');
    for (let at = 0; at < states.length; at += 1) {
      const deadline = deadlines[at]?.value;
      if (deadline === undefined || states[at]?.value !== 'waiting') continue;
      const ms = num(deadline);
      if (first === undefined || ms < first) first = ms;
    }
  }
  if (first === undefined) redis.call('HDEL', conversation.root, 'deadline');
  else redis.call('HSET', conversation.root, 'deadline', first);
  return first;
}
