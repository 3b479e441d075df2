import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { AnswerActivities, ChildActivities, RunActivities } from '../protocol/temporal.js';
import { LIMITS } from '../protocol/limits.js';

/** Time for storing results and for waiting for a free tool slot. */
const SETTLING_MS = 5 * 60_000;

/**
 * Options that all activities of a run share. Retries are unlimited: Redis decides which work may be
 * repeated, provider failures have a budget of their own, and any other failure is a temporary outage.
 * Runs schedule them where no cancel reaches, because a stop reaches them through Redis.
 */
const shared = {
  heartbeatTimeout: '5s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
} as const;

export const model = proxyActivities<Pick<RunActivities, 'modelStep'>>({
  ...shared,
  startToCloseTimeout: '30m',
});

/** A leg starts no further step after `legMs`; the step in progress may still take its full time. */
export const legs = proxyActivities<Pick<RunActivities, 'leg'>>({
  ...shared,
  heartbeatTimeout: '10s',
  startToCloseTimeout: LIMITS.legMs + LIMITS.toolMs + SETTLING_MS,
});

/** A tool may block the event loop for a while and still finish, so its heartbeat time-out is longer. */
export const tools = proxyActivities<Pick<RunActivities, 'toolCall'>>({
  ...shared,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '30m',
});

type Bookkeeping = Pick<RunActivities, 'endRun' | 'stopRun'> &
  ChildActivities &
  Pick<AnswerActivities, 'look'>;

/** Local activities run in the workflow's own process and never queue behind model calls. */
export const bookkeeping = proxyLocalActivities<Bookkeeping>({
  retry: shared.retry,
  startToCloseTimeout: '5s',
  // Longer back-offs use a timer outside the workflow task, since a worker has few slots for local activities.
  localRetryThreshold: '1s',
});

/**
 * Operators' answers take milliseconds, so silence means a dead worker. They are regular activities so that the run's
 * timeline shows them.
 */
export const answers = proxyActivities<Pick<AnswerActivities, 'answerCall' | 'extendDeadline'>>({
  cancellationType: ActivityCancellationType.ABANDON,
  retry: shared.retry,
  startToCloseTimeout: '5s',
});
