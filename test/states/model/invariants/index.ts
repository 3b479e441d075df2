import { toReply } from '../record/play.js';
import type { Check, Played } from '../record/records.js';
import { staleRequests } from '../requests/stale.js';
import { CALLS } from './calls.js';
import { LOG } from './log.js';
import { RUNS_AND_MESSAGES } from './runs.js';
import { STATUS } from './status.js';
import { readStored } from './stored.js';

export const INVARIANTS = [...LOG, ...CALLS, ...RUNS_AND_MESSAGES, ...STATUS];

/** The first rule that a request breaks, of all rules. */
export const checkAll: Check = (played) =>
  checkInvariants(played) ?? findDoneTwice(played) ?? findAccepted(played);

/** @param only the one rule that is checked; all if absent */
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

/** A record refuses requests whose senders may change nothing. */
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

/** Replies that a repeated request may get instead of its first one, by that. */
const SECOND_REPLIES: Readonly<Record<string, readonly string[]>> = {
  begun: ['begun', 'accepted'],
  queued: ['accepted'],
  steered: ['accepted', 'done'],
  interrupting: ['accepted'],
  committed: ['done'],
  stored: ['stored', 'already_completed', 'expired'],
};

/** Sent again, they write the same again. */
const REPEATABLE = new Set(['stop', 'takeOver']);

export const REPEAT_RULE = 'P4, a request that is sent twice is done once';

/** A sender whose connection broke sends again: nothing is done twice, and it gets the first result. */
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
