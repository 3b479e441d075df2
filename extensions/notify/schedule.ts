/** When receivers are notified of a question, ms after it was asked. */
export interface Schedule {
  remindAfterMs: readonly number[];
  /** Absent without receivers of what is escalated. */
  escalateAfterMs?: number | undefined;
  /** ms after the question. */
  deadlineMs?: number | undefined;
}

export interface Point {
  stage: 'requested' | 'reminder' | 'escalated';
  /** ms after the question. */
  atMs: number;
}

/** The last reminder comes so long before a deadline. */
const BEFORE_DEADLINE_MS = 15 * 60_000;
/** Without a signal, a wait is looked at again after this long. */
export const LOOK_AGAIN_MS = 24 * 60 * 60_000;
/** After a deadline the run's own timer comes first. */
const AFTER_DEADLINE_MS = 5_000;

/**
 * What is due, and when to look again. Of reminders that were missed only the newest is due.
 *
 * @param done the newest point that was reached; -1 before the first
 * @param nowMs ms after the question
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
    // The question itself reminds.
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
