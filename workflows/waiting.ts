import { condition } from '@temporalio/workflow';
import type { CallRef } from '../protocol/run.js';
import { learn, releasedFor, takeAnswer, takeReleased } from '../protocol/carry.js';
import { noticeWait } from './notice-starts.js';
import { bookkeeping } from './proxies.js';
import { runRef, type RunState } from './run-state.js';

/**
 * While people have not been asked, a deadline is checked again after at most this long: each check
 * is eleven events of history. A deadline that passes meanwhile is found by the sweeper.
 */
const UNASKED_LIMIT_MS = 10 * 60_000;

/**
 * Waits until the batch of a step is complete: the client that stores its last answer signals. The
 * timer only wakes the run; Redis' clock decides whether a deadline has passed.
 *
 * @returns the approved calls, or 'stopped'
 */
export async function untilAnswered(
  state: RunState,
  step: number,
  people: readonly CallRef[],
): Promise<string[] | 'stopped'> {
  const noticeOver = noticeWait(state, step, people);
  let dueMs = earliest(people);
  let patience = 1;
  for (;;) {
    const isOver = (): boolean =>
      state.carry.stopRequested || releasedFor(state.carry, step) !== undefined;
    const summary = `deadline of step ${String(step)}`;
    if (dueMs === undefined) await condition(isOver);
    else if (!(await condition(isOver, dueMs, { summary }))) {
      const expired = await bookkeeping().expireCalls.executeWithOptions({ summary }, [
        { ...runRef(state), step },
      ]);
      state.carry = learn(takeAnswer(state.carry, expired), expired.sequence);
      const { nextDueMs, isUnasked } = expired;
      patience = isUnasked === true ? patience * 2 : 1;
      dueMs = nextDueMs && Math.max(nextDueMs, Math.min(nextDueMs * patience, UNASKED_LIMIT_MS));
      continue;
    }
    const approved = releasedFor(state.carry, step);
    state.carry = takeReleased(state.carry, step);
    const at = Date.now();
    noticeOver(approved === undefined ? { stopped: true, at } : { approved, at });
    return approved ?? 'stopped';
  }
}

function earliest(people: readonly CallRef[]): number | undefined {
  const all = people.flatMap(({ deadlineMs }) => (deadlineMs === undefined ? [] : [deadlineMs]));
  return all.length === 0 ? undefined : Math.min(...all);
}
