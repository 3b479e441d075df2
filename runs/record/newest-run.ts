import { LIMITS } from '../../protocol/limits.js';
import type { NewestRun } from '../../protocol/replies.js';
import { isTerminal } from '../../protocol/run.js';
import type { SessionRecord } from '../../store/contract/sessions.js';

/** @param isHeld the run is not started because its agent is paused */
export function toNewestRun(record: SessionRecord, now: number, isHeld = false): NewestRun {
  const { runId, status, error, waitsUntil = 0 } = record;
  const startAt = startTimeOf(record);
  const isWaiting = waitsUntil > now;
  const startsLater = isWaiting && startAt !== undefined;
  return {
    runId,
    status,
    ...(error !== undefined && { error }),
    ...(!isHeld && isStalled(record, now) && { stalled: true }),
    ...(isWaiting && { waitingFor: startsLater ? 'start' : 'provider' }),
    ...(isHeld && { waitingFor: 'agent' }),
    ...(startsLater && { startAt }),
  };
}

/** Returns the start time of a run set to begin later; undefined once it has begun. Pure. */
export function startTimeOf({
  status,
  waitsUntil,
}: Pick<SessionRecord, 'status' | 'waitsUntil'>): number | undefined {
  return status === 'starting' ? waitsUntil : undefined;
}

/**
 * Returns true for an active run that has written nothing for long: no worker, or a silent model. A
 * run that waits for its provider has time until the next try. Pure.
 */
export function isStalled(
  record: Pick<SessionRecord, 'status' | 'stream' | 'updatedAt' | 'waitsUntil'>,
  now: number,
): boolean {
  const { status, stream, updatedAt, waitsUntil = 0 } = record;
  const lastSign = Math.max(updatedAt, waitsUntil);
  return !isTerminal(status) && stream === 'active' && now - lastSign > LIMITS.stalledMs;
}

export function isUncontinued(record: Pick<SessionRecord, 'status' | 'runMode'>): boolean {
  const { status, runMode } = record;
  // The copy of a whole conversation is complete.
  return runMode === 'branch' && status === 'interrupted';
}
