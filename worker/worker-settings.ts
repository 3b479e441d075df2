import type { WorkerOptions } from '@temporalio/worker';

/** Settings that fast recovery depends on. The owner's own settings take precedence. */
export const WORKER_SETTINGS = {
  // After this time another worker takes over the workflows of a dead one.
  stickyQueueScheduleToStartTimeout: '1s',
  // Heartbeats are recorded each second and every other one is sent. 200 streams then cost the
  // server 100 calls a second, and a dead worker is noticed within the 5 s of the heartbeat
  // time-out.
  maxHeartbeatThrottleInterval: '2s',
  defaultHeartbeatThrottleInterval: '2s',
  // After shutdown, a worker finishes what it can within this time and hands over the rest.
  shutdownGraceTime: '30s',
  shutdownForceTime: '35s',
} as const satisfies Partial<WorkerOptions>;

/**
 * Concurrent model calls of one process: 200 streams of 50 chunks a second use two thirds of a
 * core.
 */
const MODEL_SLOTS = 300;

const WORKER_SLOTS = {
  // Workflow code runs on one thread, so many more concurrent tasks would time out while they wait
  // for it; tasks that are not taken wait on the server, where no time-out runs. A task holds
  // its slot until the server has its result: with 8 slots, new runs waited for a busy server.
  maxConcurrentWorkflowTaskExecutions: 40,
  // Each open poll of a worker that is killed can take one activity with it.
  maxConcurrentActivityTaskPolls: 5,
  maxConcurrentWorkflowTaskPolls: 10,
  // By default only a fifth of the polls are for new runs, which then wait behind many others.
  nonStickyToStickyPollRatio: 0.5,
} as const satisfies Partial<WorkerOptions>;

/** Slots of one process; a worker with a tuner has its own configuration. */
export function toSlots(modelSlots = MODEL_SLOTS): Partial<WorkerOptions> {
  return { ...WORKER_SLOTS, maxConcurrentActivityTaskExecutions: modelSlots };
}

/** Tools of one process, separate from its model calls. */
export const TOOL_SLOTS = {
  /** Concurrent executions. */
  total: 200,
  /** Concurrent executions for one user. */
  perUser: 50,
} as const;

/**
 * Calls that a process accepts per slot: besides the executed ones, it holds those of users who
 * have used up their share, so that they do not block other users.
 */
export const HELD_CALLS_PER_SLOT = 5;
