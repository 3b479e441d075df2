import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { AnswerActivities, ChildActivities, RunActivities } from '../protocol/activities.js';

/**
 * Every time-out and retry policy of the run. Retries are without limit: Redis decides what may
 * happen again, provider failures carry their own budget, and everything else is an outage that
 * ends some time. ABANDON: a stop reaches activities through Redis, not through Temporal.
 */
const shared = {
  heartbeatTimeout: '5s',
  cancellationType: ActivityCancellationType.ABANDON,
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
} as const;

/** A script or two and a signal: takes milliseconds, so that silence means a dead worker here too. */
const brief = {
  cancellationType: ActivityCancellationType.ABANDON,
  retry: shared.retry,
  startToCloseTimeout: '5s',
} as const;

export const model = proxyActivities<Pick<RunActivities, 'modelStep'>>({
  ...shared,
  startToCloseTimeout: '30m',
});

export const tools = proxyActivities<Pick<RunActivities, 'toolCall'>>({
  ...shared,
  startToCloseTimeout: '30m',
});

export const bookkeeping = proxyActivities<Pick<RunActivities, 'endRun' | 'stopRun'>>(brief);

export const children = proxyActivities<ChildActivities>(brief);

export const answers = proxyActivities<AnswerActivities>(brief);
