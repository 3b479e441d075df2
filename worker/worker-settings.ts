import type { WorkerOptions } from '@temporalio/worker';

/** What fast recovery rests on. An owner's own settings win. */
export const WORKER_SETTINGS = {
  // A dead worker's workflows are picked up by another one after this long.
  stickyQueueScheduleToStartTimeout: '1s',
  // The timer beats each second; every other beat goes out. 200 streams then cost the server 100
  // calls a second, and a dead worker is still noticed within the 5 s of the heartbeat timeout.
  maxHeartbeatThrottleInterval: '2s',
  defaultHeartbeatThrottleInterval: '2s',
  // A worker that is told to go finishes what it can, then hands over.
  shutdownGraceTime: '30s',
  shutdownForceTime: '35s',
} as const satisfies Partial<WorkerOptions>;

/** Model calls of one process: 200 streams of 50 chunks a second take two thirds of a core. */
const MODEL_SLOTS = 300;

const WORKER_SLOTS = {
  // Workflow code runs on one thread: more tasks at once would time out while they wait for it. What
  // is not taken waits at the server, where no time-out runs.
  maxConcurrentWorkflowTaskExecutions: 8,
  maxConcurrentActivityTaskPolls: 10,
  maxConcurrentWorkflowTaskPolls: 10,
  // By default only a fifth of the polls look for runs that begin, and these wait behind a crowd of others.
  nonStickyToStickyPollRatio: 0.5,
} as const satisfies Partial<WorkerOptions>;

/** How much one process takes on; a worker that brings a tuner has its own answer to that. */
export function toSlots(modelSlots = MODEL_SLOTS): Partial<WorkerOptions> {
  return { ...WORKER_SLOTS, maxConcurrentActivityTaskExecutions: modelSlots };
}

/** Tools of one process, apart from its model calls. */
export const TOOL_SLOTS = {
  /** Executed at once. */
  total: 200,
  /** Of these, one user's. */
  perUser: 50,
} as const;

/**
 * Calls that a process holds: beside those that are executed those of users who have used up their
 * share, so that these keep nobody else's from coming.
 */
export const HELD_CALLS_PER_SLOT = 5;
