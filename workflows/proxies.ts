import {
  ActivityCancellationType,
  patched,
  proxyActivities,
  proxyLocalActivities,
} from '@temporalio/workflow';
import type { AnswerActivities, ChildActivities, RunActivities } from '../protocol/activities.js';
import { PATCHES } from './patches.js';

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

/** A tool may hold up its process for a while, and finish: that is no reason to say that it did not. */
export const tools = proxyActivities<Pick<RunActivities, 'toolCall'>>({
  ...shared,
  heartbeatTimeout: '10s',
  startToCloseTimeout: '30m',
});

type Bookkeeping = Pick<RunActivities, 'endRun' | 'stopRun'> &
  ChildActivities &
  Pick<AnswerActivities, 'expireCalls'>;

const queued = proxyActivities<Bookkeeping>(brief);

/** In the process that runs the workflow: no slot, no queue, no model before it in line. */
const local = proxyLocalActivities<Bookkeeping>({
  cancellationType: ActivityCancellationType.ABANDON,
  retry: shared.retry,
  startToCloseTimeout: '5s',
  // A wait that is longer leaves the workflow task, of which a worker has few.
  localRetryThreshold: '1s',
});

/** What is written down beside steps and tools; runs that began before keep to their queue. */
export function bookkeeping(): typeof queued | typeof local {
  return patched(PATCHES.localBookkeeping) ? local : queued;
}

/** Operators' answers: activities, so that the timeline of a run shows them. */
export const answers =
  proxyActivities<Pick<AnswerActivities, 'answerCall' | 'extendDeadline'>>(brief);
