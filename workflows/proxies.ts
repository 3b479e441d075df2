import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { AnswerActivities, ChildActivities, RunActivities } from '../protocol/activities.js';
import { LIMITS } from '../protocol/limits.js';

/** Results are stored, and places for tools are waited for. */
const SETTLING_MS = 5 * 60_000;

/**
 * Every time-out and retry policy of the run. Retries are unlimited: Redis decides what may be
 * repeated, provider failures have their own budget, and everything else is a temporary outage.
 * ABANDON: a stop reaches activities through Redis, not through Temporal.
 */
const shared = {
  heartbeatTimeout: '5s',
  cancellationType: ActivityCancellationType.ABANDON,
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
} as const;

/** A few transitions and a signal take milliseconds, so here too silence means a dead worker. */
const brief = {
  cancellationType: ActivityCancellationType.ABANDON,
  retry: shared.retry,
  startToCloseTimeout: '5s',
} as const;

export const model = proxyActivities<Pick<RunActivities, 'modelStep'>>({
  ...shared,
  startToCloseTimeout: '30m',
});

/** After its time a leg begins nothing else, and may take as long as one step. */
export const legs = proxyActivities<Pick<RunActivities, 'leg'>>({
  ...shared,
  heartbeatTimeout: '10s',
  startToCloseTimeout: LIMITS.legMs + LIMITS.toolMs + SETTLING_MS,
});

/** A tool may block its process for a while and still finish, so its time-out is longer. */
export const tools = proxyActivities<Pick<RunActivities, 'toolCall'>>({
  ...shared,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '30m',
});

type Bookkeeping = Pick<RunActivities, 'endRun' | 'stopRun'> &
  ChildActivities &
  Pick<AnswerActivities, 'look'>;

/** Runs in the process of the workflow: no slot, no queue, and no model call ahead of it. */
export const bookkeeping = proxyLocalActivities<Bookkeeping>({
  cancellationType: ActivityCancellationType.ABANDON,
  retry: shared.retry,
  startToCloseTimeout: '5s',
  // A longer wait leaves the workflow task, since a worker has few slots for these.
  localRetryThreshold: '1s',
});

/** Operators' answers are regular activities, so that the timeline of a run shows them. */
export const answers =
  proxyActivities<Pick<AnswerActivities, 'answerCall' | 'extendDeadline'>>(brief);
