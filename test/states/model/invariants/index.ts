import { toReply } from '../record/play.js';
import type { Check, Played } from '../record/records.js';
import { staleRequests } from '../stale.js';
import { CALLS } from './calls.js';
import { LOG } from './log.js';
import { RUNS_AND_MESSAGES } from './runs.js';
import { STATUS } from './status.js';
import { readStored } from './stored.js';

export const INVARIANTS = [...LOG, ...CALLS, ...RUNS_AND_MESSAGES, ...STATUS];

/** Returns the first rule, of all rules, that a request breaks. */
export const checkAll: Check = (played) =>
  checkInvariants(played) ?? findDoneTwice(played) ?? findAccepted(played);

/** @param only checks only this rule; all if absent */
export function checkInvariants(
  { before, after, sent }: Played,
  only?: string,
): string | undefined {
  const [then, now] = [readStored(before), readStored(after)];
  for (const { rule, find } of INVARIANTS) {
    if (only !== undefined && rule !== only) continue;
    const found = find(now, then, sent);
    if (found !== undefined) return `${rule}: ${found}`;
  }
  return undefined;
}

/** Finds a stale request that the record accepted although it must change nothing. */
export function findAccepted({ play, after, now, facts, isNew }: Played): string | undefined {
  if (!isNew) return undefined;
  for (const { promise, request, replies } of staleRequests(facts)) {
    const { reply, writes } = play(after, request.toSent(facts), now);
    const { kind } = toReply(reply);
    const rule = `${promise}, a stale request is refused: ${request.key}`;
    if (writes[0] !== undefined) return `${rule} writes ${writes[0].slice(0, 4).join(' ')}`;
    if (!replies.includes(kind)) return `${rule} is ${kind}`;
  }
  return undefined;
}

/** Replies that a repeated request may get, by its first reply. */
const SECOND_REPLIES: Readonly<Record<string, readonly string[]>> = {
  begun: ['begun', 'accepted'],
  queued: ['accepted'],
  steered: ['accepted', 'done'],
  interrupting: ['accepted'],
  committed: ['done'],
  stored: ['stored', 'already_completed', 'expired'],
};

/** Requests that write the same again when repeated. */
const REPEATABLE = new Set(['stop', 'takeOver']);

export const REPEAT_RULE = 'P4, a request that is sent twice is done once';

/**
 * Repeats a request, as after a broken connection: nothing may happen twice, and the reply agrees.
 */
export function findDoneTwice({ play, sent, now, reply, after }: Played): string | undefined {
  const { what } = sent;
  if (REPEATABLE.has(what)) return undefined;
  const again = play(after, sent, now);
  const [written] = again.writes;
  if (written !== undefined)
    return `${REPEAT_RULE}: ${what} writes ${written.slice(0, 4).join(' ')}`;
  const [first, second] = [reply.kind, toReply(again.reply).kind];
  if (first === second || SECOND_REPLIES[first]?.includes(second) === true) return undefined;
  return `${REPEAT_RULE}: ${what} is ${first}, then ${second}`;
}
