import type { LeaseRef } from '../protocol/activities.js';
import type { CallActivity } from '../protocol/run.js';

/**
 * What the settings of a tool's author leave to the activity that replaces a lost one: attempts that
 * were lost, and the time since the first was scheduled, count. A call that a worker handed over while
 * it waited for a place was not executed, so that attempt does not count. Pure.
 *
 * @param replaces the lost attempts, if any
 * @param forMs time since the first one was scheduled
 * @returns the settings, or how the call has failed for good by them
 */
export function leftOf(
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
