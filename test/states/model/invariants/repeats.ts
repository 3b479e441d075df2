import { toReply } from '../record/play.js';
import type { Played } from '../record/records.js';

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
