import { createHash } from 'node:crypto';
import type { ScheduleSummary } from '@temporalio/client';
import type { ScheduleInput } from '../../protocol/called-runs.js';
import type { Firing } from '../../protocol/schedules.js';

/** A schedule as Temporal knows it. */
export interface ScheduleState extends Omit<ScheduleInput, 'message' | 'isPaused'> {
  isPaused: boolean;
  /** Reason of the last pause or resume. */
  note?: string;
  /** ms since the epoch. */
  createdAt: number;
  /** Times of the next firings, ms since the epoch. */
  next: number[];
}

/** A schedule with the details that a list does not have. */
export interface DescribedSchedule extends ScheduleState {
  message: string;
  /** Recent firings, the newest first. */
  firings: Firing[];
  /** Counts since the creation. */
  counts: { fired: number; skipped: number; missed: number };
}

/** Memo of a schedule. The message is only in its action. */
export interface ScheduleMemo extends Omit<ScheduleInput, 'message' | 'isPaused'> {
  createdAt: number;
  digest: string;
}

/** Hashes a schedule's content, without the person who creates it. */
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
