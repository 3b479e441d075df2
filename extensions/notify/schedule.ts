/** Times at which receivers are notified of a question, ms after it was asked. */
export interface Schedule {
  remindAfterMs: readonly number[];
  /** Absent if no receiver takes escalations. */
  escalateAfterMs?: number | undefined;
  /** ms after the question. */
  deadlineMs?: number | undefined;
}

export interface Point {
  stage: 'requested' | 'reminder' | 'escalated';
  /** ms after the question. */
  atMs: number;
}

/** Time between the last reminder and the deadline. */
const BEFORE_DEADLINE_MS = 15 * 60_000;
/** Longest interval between looks at a waiting run that sends no signal. */
export const LOOK_AGAIN_MS = 24 * 60 * 60_000;
/** Delay after a deadline, so that the run's own timer settles the call first. */
const AFTER_DEADLINE_MS = 5_000;

/**
 * Returns the notices that are due and the time of the next look. Of missed reminders only the newest is due.
 *
 * @param done newest point reached so far; -1 before the first
 * @param nowMs time since the question, ms
 */
export function lookAtSchedule(
  schedule: Schedule,
  done: number,
  nowMs: number,
): { due: Point[]; done: number; againMs: number } {
  const { remindAfterMs, escalateAfterMs, deadlineMs } = schedule;
  const beforeDeadline = deadlineMs === undefined ? 0 : deadlineMs - BEFORE_DEADLINE_MS;
  const reminders = [...remindAfterMs, ...(beforeDeadline > 0 ? [beforeDeadline] : [])];
  const isInTime = (atMs: number): boolean => deadlineMs === undefined || atMs < deadlineMs;
  const pointAt =
    (stage: Point['stage']) =>
    (atMs: number): Point => ({ stage, atMs });
  const points = [
    pointAt('requested')(0),
    ...reminders.filter(isInTime).map(pointAt('reminder')),
    ...(escalateAfterMs === undefined ? [] : [escalateAfterMs])
      .filter(isInTime)
      .map(pointAt('escalated')),
  ].sort((a, b) => a.atMs - b.atMs);
  const reached = points.filter(({ atMs }) => atMs > done && atMs <= nowMs);
  const isNewest = ({ stage }: Point, at: number): boolean =>
    !reached.slice(at + 1).some((later) => later.stage === stage);
  const hasAsked = done >= 0;
  const due = reached.filter(
    // Before the first notice no reminder is due: the notice itself reminds.
    (point, at) => isNewest(point, at) && (hasAsked || point.stage !== 'reminder'),
  );
  const next = points.find(({ atMs }) => atMs > nowMs)?.atMs ?? Infinity;
  const over = deadlineMs === undefined ? Infinity : deadlineMs + AFTER_DEADLINE_MS;
  const until = Math.min(next, over > nowMs ? over : Infinity) - nowMs;
  return {
    due,
    done: Math.max(done, reached.at(-1)?.atMs ?? done),
    againMs: Math.min(Math.max(until, 1_000), LOOK_AGAIN_MS),
  };
}
