import { copyOnWrite } from '../record/copy-on-write.js';
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
export function findDoneTwice({ play, call, reply, after }: Played): string | undefined {
  const [transition = ''] = call.args;
  if (REPEATABLE.has(transition)) return undefined;
  const copied = copyOnWrite(after);
  const again = play(copied.keyspace, call);
  const written = copied.firstWrite();
  if (written !== undefined) return `${REPEAT_RULE}: ${transition} writes ${written}`;
  if (again === reply || String(again) === String(reply)) return undefined;
  const [first, second] = [toReply(reply).kind, toReply(again).kind];
  if (first === second || SECOND_REPLIES[first]?.includes(second) === true) return undefined;
  return `${REPEAT_RULE}: ${transition} is ${first}, then ${second}`;
}
