import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { WorkerOptions } from '@temporalio/worker';

/** Settings that fast recovery depends on. */
const WORKER_SETTINGS = {
  // After this time another worker takes over the workflows of a dead one.
  stickyQueueScheduleToStartTimeout: '1s',
  // Attempts without a lease record a heartbeat each second, and every other one is sent: 200 streams then
  // cost the server 100 calls a second, and a dead worker is noticed within their time-out of 5 s.
  maxHeartbeatThrottleInterval: '2s',
  defaultHeartbeatThrottleInterval: '2s',
  // After shutdown, a worker finishes what it can within this time and hands over the rest.
  shutdownGraceTime: '30s',
  shutdownForceTime: '35s',
} as const satisfies Partial<WorkerOptions>;

/**
 * Concurrent model calls of one process: 200 streams of 50 chunks a second use two thirds of a core.
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

/** A cached run takes 0.66 MB. */
const MAX_CACHED_RUNS = 500;
const HEAP_BYTES_PER_CACHED_RUN = 2_000_000;

/**
 * Returns the number of runs that a process caches between their tasks, by its heap limit, so that
 * many waiting runs take 600 MB at most. The SDK's own default has no upper end: a heap of 4 GB
 * would fill with 2,283 runs. A run that is not cached is replayed at its next task.
 */
export function toCachedRuns(heapBytes = getHeapStatistics().heap_size_limit): number {
  return Math.min(MAX_CACHED_RUNS, Math.max(10, Math.floor(heapBytes / HEAP_BYTES_PER_CACHED_RUN)));
}

/** Size of half a thread's space for new objects, MB. */
const NEW_OBJECTS_MB = 16;

/**
 * Limits the space for new objects of threads that start from now on. The main thread needs much, since it streams;
 * in that of workflows so much would only keep more garbage.
 */
export function limitNewThreads(): void {
  setFlagsFromString(`--max-semi-space-size=${String(NEW_OBJECTS_MB)}`);
}

/** Settings of every worker. The owner's own take precedence. */
export function toSettings(maxCachedWorkflows = toCachedRuns()): Partial<WorkerOptions> {
  return { ...WORKER_SETTINGS, maxCachedWorkflows };
}

/** Slots of one process; a worker with a tuner has its own configuration. */
export function toSlots(modelSlots = MODEL_SLOTS): Partial<WorkerOptions> {
  return { ...WORKER_SLOTS, maxConcurrentActivityTaskExecutions: modelSlots };
}

/** Returns undefined if the worker sets its own slots, or if eager starts are off or versioned. */
export function toEagerSlots(
  own: Pick<
    WorkerOptions,
    'tuner' | 'maxConcurrentActivityTaskExecutions' | 'maxEagerActivityReservationsPerWorkflowTask'
  >,
  { modelSlots = MODEL_SLOTS, versioning }: { modelSlots?: number; versioning?: object },
): number | undefined {
  const isOurs = own.tuner === undefined && own.maxConcurrentActivityTaskExecutions === undefined;
  const isOff = own.maxEagerActivityReservationsPerWorkflowTask === 0 || versioning !== undefined;
  return isOurs && !isOff ? modelSlots : undefined;
}

/**
 * Calls that a process accepts per slot: besides the executed ones, it holds those of users who
 * have used up their share, so that they do not block other users.
 */
export const HELD_CALLS_PER_SLOT = 5;
