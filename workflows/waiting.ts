import { condition } from '@temporalio/workflow';
import type { CallRef, Resumption } from '../protocol/run.js';
import { learn, releasedFor, takeAnswer, takeReleased } from '../protocol/carry.js';
import { createWaitNotices, type WaitNotices } from './notice-starts.js';
import { bookkeeping } from './proxies.js';
import { runRef, type RunState } from './run-state.js';

/**
 * While people have not been asked, a deadline is checked again after at most this long: each check
 * is eleven events of history. A deadline that passes meanwhile is found by the sweeper.
 */
const UNASKED_LIMIT_MS = 10 * 60_000;

/** The calls of a step that wait, also those whose tools do. */
export interface Waits {
  /** Each with the time by which it is due, ms since the epoch. */
  readonly calls: Map<CallRef, number | undefined>;
  add: (call: CallRef) => void;
  /** True once tools may begin to wait while other calls do, and each wait ends alone. */
  mayGrow: boolean;
  /** Over all waits of the step. */
  notices?: WaitNotices;
}

export function createWaits(people: readonly CallRef[] = []): Waits {
  const calls = new Map<CallRef, number | undefined>();
  const add = (call: CallRef): void => {
    const { deadlineMs } = call;
    calls.set(call, deadlineMs === undefined ? undefined : Date.now() + deadlineMs);
  };
  for (const call of people) add(call);
  return { calls, add, mayGrow: false };
}

/**
 * Waits until something is released: the batch of a step, by the client that stores its last answer,
 * or the call of a tool whose wait is over. A timer, and a signal to look, only wake the run: the record
 * decides, and whether a deadline has passed is up to Redis' clock.
 *
 * @returns `over` if no call of the step waits in the record
 */
export async function untilAnswered(
  state: RunState,
  step: number,
  waits: Waits,
): Promise<Resumption | 'stopped' | 'over'> {
  const notices = (waits.notices ??= createWaitNotices(state, step));
  notices.begin([...waits.calls.keys()]);
  let known = waits.calls.size;
  let dueMs = waits.mayGrow ? untilDue(waits) : earliest(waits);
  let patience = 1;
  for (;;) {
    const isOver = (): boolean =>
      state.carry.stopRequested || releasedFor(state.carry, step) !== undefined;
    const mustLook = (): boolean => state.looks > state.looked;
    const hasGrown = (): boolean => waits.mayGrow && waits.calls.size > known;
    const isNews = (): boolean => isOver() || mustLook() || hasGrown();
    const summary = `deadline of step ${String(step)}`;
    const isWoken =
      dueMs === undefined
        ? await condition(isNews).then(() => true)
        : await condition(isNews, dueMs, { summary });
    if (!isWoken || (!isOver() && mustLook())) {
      const look = mustLook();
      state.looked = state.looks;
      const expired = await bookkeeping.expireCalls.executeWithOptions(
        { summary: look ? `look at step ${String(step)}` : summary },
        [{ ...runRef(state), step, ...(look && { look }) }],
      );
      state.carry = learn(takeAnswer(state.carry, expired), expired.sequence);
      const { nextDueMs, isUnasked } = expired;
      if (expired.isOver === true && !isOver()) {
        notices.end({ at: Date.now() });
        return 'over';
      }
      patience = isUnasked === true ? patience * 2 : 1;
      dueMs = nextDueMs && Math.max(nextDueMs, Math.min(nextDueMs * patience, UNASKED_LIMIT_MS));
      continue;
    }
    if (!isOver()) {
      known = waits.calls.size;
      dueMs = untilDue(waits);
      notices.grow([...waits.calls.keys()]);
      continue;
    }
    const released = releasedFor(state.carry, step);
    state.carry = takeReleased(state.carry, step);
    const at = Date.now();
    if (released === undefined) {
      notices.end({ stopped: true, at });
      return 'stopped';
    }
    // A sleep or a webhook that is over leaves questions their notices, and so does a look that finds a tool at work.
    const { approved, partial } = released;
    const isLeft = ({ toolCallId }: CallRef): boolean => !approved.includes(toolCallId);
    const isBeside = partial === true && (waits.mayGrow || [...waits.calls.keys()].some(isLeft));
    if (!isBeside) notices.end({ approved, at });
    return released;
  }
}

function earliest({ calls }: Waits): number | undefined {
  const all = [...calls.keys()].flatMap(({ deadlineMs }) => deadlineMs ?? []);
  return all.length === 0 ? undefined : Math.min(...all);
}

/** How long it takes until the first of them is due. */
function untilDue({ calls }: Waits): number | undefined {
  const all = [...calls.values()].flatMap((due) => due ?? []);
  return all.length === 0 ? undefined : Math.max(Math.min(...all) - Date.now(), 1);
}
