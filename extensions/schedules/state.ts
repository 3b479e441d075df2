import { createHash } from 'node:crypto';
import type { ScheduleSummary } from '@temporalio/client';
import type { Firing, ScheduleInput } from '../../protocol/scheduled-run.js';

/** A schedule as Temporal knows it. */
export interface ScheduleState extends Omit<ScheduleInput, 'message' | 'isPaused'> {
  isPaused: boolean;
  /** Why it was paused or resumed last. */
  note?: string;
  /** ms since the epoch. */
  createdAt: number;
  /** The next times, ms since the epoch. */
  next: number[];
}

/** With what only a look at one schedule tells. */
export interface DescribedSchedule extends ScheduleState {
  message: string;
  /** The newest, the newest first. */
  firings: Firing[];
  /** Since it was created. */
  counts: { fired: number; skipped: number; missed: number };
}

/** What the memo of a schedule says; the message is only in its action. */
export interface ScheduleMemo extends Omit<ScheduleInput, 'message' | 'isPaused'> {
  createdAt: number;
  digest: string;
}

/** The same for the same schedule, also if another person creates it. */
export function digestOf({
  by: _by,
  personId: _id,
  isPaused: _isPaused,
  ...what
}: ScheduleInput): string {
  const fields = Object.entries<unknown>(what)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => a.localeCompare(b, 'en'));
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
}

export function memoOf({ memo }: Pick<ScheduleSummary, 'memo'>): ScheduleMemo | undefined {
  return memo?.['about'] as ScheduleMemo | undefined;
}

export function toDescribed({
  digest: _digest,
  ...described
}: ScheduleMemo): Omit<ScheduleMemo, 'digest'> {
  return described;
}

export function toState(
  about: ScheduleMemo,
  { state, info }: Pick<ScheduleSummary, 'state' | 'info'>,
): ScheduleState {
  const { paused: isPaused, note } = state;
  const next = info.nextActionTimes.map((at) => at.getTime());
  const noted = note !== undefined && note !== '' && { note };
  return { ...toDescribed(about), isPaused, ...noted, next };
}
