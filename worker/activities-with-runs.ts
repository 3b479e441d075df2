import type { BatchPageDeps } from '../executor/batch-page.js';
import type { CalledRunsDeps } from '../executor/called-runs.js';
import type { BatchActivities } from '../protocol/batch-run.js';
import type { CalledRunActivities } from '../protocol/called-runs.js';
import { createBatchActivities } from './batch-activity.js';
import { createCalledRunActivities } from './called-run-activities.js';

/** The activities that begin, stop and repeat runs, so they need more than the record of them. */
export function createActivitiesWithRuns(
  deps: BatchPageDeps & CalledRunsDeps,
): BatchActivities & CalledRunActivities {
  return { ...createBatchActivities(deps), ...createCalledRunActivities(deps) };
}
