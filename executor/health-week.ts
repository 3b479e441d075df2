import type { Counts } from '../protocol/health.js';
import { duration, outcomesOfRuns, plural, type Group } from './health-counts.js';

/** Compares a period with the same hours of the seven days before it. Pure. */

/** Failures below the limits of the verdict are unusual if their share has grown this much. */
const GROWTH = 3;
/** So many failures now, and so much that the week before is known by, before shares mean something. */
const LEAST_FAILED = 3;
const LEAST_KNOWN = 30;
/** Whatever was usual, fewer failures than this share are worth no warning. */
const LEAST_SHARE = 0.01;
/** A quiet hour of a busy service: fewer runs than this share of the quietest of the seven days. */
const QUIET_SHARE = 0.1;
const LEAST_RUNS = 10;

/** What is usual, in words, if failures are far more frequent than that. */
export function findUnusual(
  { failed, total }: Pick<Group, 'failed' | 'total'>,
  week: readonly Counts[],
  toGroup: (day: Counts) => Pick<Group, 'failed' | 'total'>,
): string | undefined {
  const days = week.map(toGroup);
  const known = days.reduce((sum, day) => sum + day.total, 0);
  const usual = days.reduce((sum, day) => sum + day.failed, 0);
  if (failed < LEAST_FAILED || known < LEAST_KNOWN) return undefined;
  if (failed / total < LEAST_SHARE || failed / total <= (GROWTH * usual) / known) return undefined;
  return `, ${percent(failed / total)} where ${percent(usual / known)} were usual in the 7 days before`;
}

/** Says that hardly any run has ended, where on each of the seven days there were many at this time. */
export function findSilence({
  counts,
  week,
  periodMs,
}: {
  counts: Counts;
  week: readonly Counts[];
  periodMs: number;
}): string | undefined {
  const now = outcomesOfRuns(counts).total;
  const quietest = Math.min(...week.map((day) => outcomesOfRuns(day).total));
  // Without a week to compare with it is no number.
  if (!Number.isFinite(quietest) || quietest < LEAST_RUNS || now >= quietest * QUIET_SHARE) {
    return undefined;
  }
  const least = `there were ${String(quietest)} or more at this time on each of the 7 days before`;
  return `${plural(now, 'run')} ended in the last ${duration(periodMs)}; ${least}.`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}
