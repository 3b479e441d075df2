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

/** How much one process takes on; a worker that brings a tuner has its own answer to that. */
export const WORKER_SLOTS = {
  maxConcurrentActivityTaskExecutions: 1_000,
  maxConcurrentWorkflowTaskExecutions: 40,
  maxConcurrentActivityTaskPolls: 10,
  maxConcurrentWorkflowTaskPolls: 10,
} as const satisfies Partial<WorkerOptions>;
