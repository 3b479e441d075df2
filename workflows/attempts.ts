import { ActivityFailure, TimeoutFailure, workflowInfo } from '@temporalio/workflow';
import {
  type CallActivityRef,
  type LeaseRef,
  type LostAttempt,
  type StateReply,
  toolQueueOf,
} from '../protocol/temporal.js';
import type { CallActivity, CallRef, RunInput } from '../protocol/run.js';
import { tools } from './proxies.js';

/**
 * With leases, heartbeats are only a backstop: a lease tells of a dead worker long before, and the
 * sweeper finds attempts that no lease has.
 */
const LEASED = { heartbeatTimeout: '90s' } as const;

/**
 * A call that has not started by then found no free slot, so it moves to the tools' queue. The limit
 * counts anew for each retry; a call that had begun is fenced by its record.
 */
const EAGER = { scheduleToStartTimeout: '1s' } as const;

/**
 * Schedules an activity, and again for as long as its attempt is lost. Redis counts attempts and
 * decides which may be repeated, and what is left to do. Outcomes have a record's state, or one of these kinds.
 */
export async function retryWhileLost<Outcome extends object>(
  { hasLeases }: Pick<RunInput, 'hasLeases'>,
  schedule: (options: Partial<typeof LEASED>, ref: LeaseRef) => Promise<Outcome | LostAttempt>,
  kinds: readonly unknown[] = [],
): Promise<Outcome> {
  let options: Partial<typeof LEASED> = hasLeases === true ? LEASED : {};
  let ref: LeaseRef = hasLeases === true ? { isLeased: true } : {};
  for (;;) {
    const outcome: Outcome | LostAttempt | null = await schedule(options, ref);
    const { at, kind } = (outcome ?? {}) as { at?: { next?: { do?: string } }; kind?: string };
    if (at?.next?.do !== undefined || kinds.includes(kind)) return outcome as Outcome;
    // An operator completed the activity by hand with any JSON: texts and lists have a method `at`.
    if (kind !== 'lost') continue;
    const { token, number, progress, begun, moved, ...lost } = outcome as LostAttempt;
    const blockedBy = lost.blockedBy ?? ref.replaces?.blockedBy;
    const unbegun = (ref.replaces?.unbegun ?? 0) + (begun === false ? 1 : 0);
    // A worker that is frozen or cut off may still hold an open poll, get the next attempt and never
    // register it. So the next attempt has the short time-out of one without a lease.
    if (moved !== true) options = {};
    ref = {
      isLeased: true,
      replaces: {
        token,
        number,
        progress,
        ...(unbegun > 0 && { unbegun }),
        ...(blockedBy !== undefined && { blockedBy }),
      },
    };
  }
}

/**
 * Reduces a tool author's activity settings by the attempts and the time that lost activities have
 * used. A call that a worker handed over before it executed it has used no attempt. Pure.
 *
 * @param replaces the lost attempts, if any
 * @param forMs time since the first attempt was scheduled
 * @returns the remaining settings, or the way in which the call has failed for good
 */
export function remainingSettings(
  activity: CallActivity | undefined,
  replaces: LeaseRef['replaces'],
  forMs: number,
): CallActivity | undefined | 'failed' | 'timed_out' {
  if (activity === undefined || replaces === undefined) return activity;
  const { number, unbegun = 0 } = replaces;
  const used = number - unbegun;
  const { retry, scheduleToCloseTimeout: withinMs } = activity;
  const attempts = retry?.maximumAttempts;
  if (attempts !== undefined && attempts <= used) return 'failed';
  if (withinMs !== undefined && withinMs <= forMs) return 'timed_out';
  return {
    ...activity,
    ...(attempts !== undefined && { retry: { ...retry, maximumAttempts: attempts - used } }),
    ...(withinMs !== undefined && { scheduleToCloseTimeout: withinMs - forMs }),
  };
}

/** Executes a call in an activity of its own, with the settings of the tool's author. */
export async function runTool(
  input: Pick<RunInput, 'hasLeases'>,
  ref: CallActivityRef,
  { timeoutMs, activity }: CallRef,
  isEager: boolean,
): Promise<StateReply> {
  const { taskQueue } = workflowInfo();
  const usual = { summary: ref.toolName, taskQueue: toolQueueOf(taskQueue) };
  const options = {
    ...usual,
    ...(timeoutMs !== undefined && { startToCloseTimeout: timeoutMs + 30_000 }),
  };
  const beganMs = Date.now();
  // The author's settings allow no further attempt, so the model gets an error as the result.
  const giveUp = (givenUp: 'timed_out' | 'failed', leased: object, lease: LeaseRef) =>
    tools.toolCall.executeWithOptions({ ...usual, ...leased }, [{ ...ref, ...lease, givenUp }]);
  try {
    return await retryWhileLost(input, (leased, lease) => {
      const left = remainingSettings(activity, lease.replaces, Date.now() - beganMs);
      if (typeof left === 'string') return giveUp(left, leased, lease);
      // A server starts an activity eagerly only on the task queue of its workflow.
      if (isEager && lease.isLeased === true && lease.replaces === undefined) {
        const settings = { ...options, ...EAGER, taskQueue, ...leased };
        return tools.toolCall
          .executeWithOptions(settings, [{ ...ref, ...lease, eager: true }])
          .catch(orMoved);
      }
      const settings = { ...options, ...left, ...leased };
      return tools.toolCall.executeWithOptions(settings, [{ ...ref, ...lease }]);
    });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const givenUp = error.cause instanceof TimeoutFailure ? 'timed_out' : 'failed';
    return retryWhileLost(input, (leased, lease) => giveUp(givenUp, leased, lease));
  }
}

/** Returns the outcome of an eager call that was not started in time. @throws other errors */
function orMoved(error: unknown): LostAttempt {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  const isUnstarted = cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START';
  if (!isUnstarted) throw error;
  return { kind: 'lost', token: 0, number: 0, begun: false, moved: true };
}
