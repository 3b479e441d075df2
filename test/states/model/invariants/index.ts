import type { Check, Played } from '../record/records.js';
import { CALLS } from './calls.js';
import { LOG } from './log.js';
import { findAccepted } from './refusals.js';
import { findDoneTwice } from './repeats.js';
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
