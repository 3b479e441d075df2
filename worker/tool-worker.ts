import { setTimeout } from 'node:timers/promises';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { type RunActivities, toolQueueOf } from '../protocol/temporal.js';
import { HELD_CALLS_PER_SLOT } from './worker-settings.js';

const LOOK_MS = 50;

/** Heartbeat interval; after ten seconds without one an attempt counts as dead. */
const HEARTBEAT_EVERY = '4s';

/**
 * Creates the worker that executes tools, with its own task queue and slots, so that slow tools do
 * not block models.
 */
export function createToolWorker(
  options: WorkerOptions,
  toolCall: RunActivities['toolCall'],
  slots: number,
): Promise<Worker> {
  return Worker.create({
    ...activityWorkerOptions(options),
    taskQueue: toolQueueOf(options.taskQueue),
    activities: { toolCall },
    // Calls that wait for a slot also send heartbeats, and each heartbeat is a write on the server.
    maxHeartbeatThrottleInterval: HEARTBEAT_EVERY,
    defaultHeartbeatThrottleInterval: HEARTBEAT_EVERY,
    maxConcurrentActivityTaskExecutions: slots * HELD_CALLS_PER_SLOT,
  });
}

/** Returns the settings of a worker that only executes activities, on another task queue. */
export function activityWorkerOptions({
  connection,
  ...settings
}: WorkerOptions): Omit<WorkerOptions, 'taskQueue'> {
  const {
    taskQueue: _queue,
    workflowsPath: _path,
    workflowBundle: _bundle,
    plugins: _plugins,
    tuner: _tuner,
    activities: _activities,
    nexusServices: _services,
    maxConcurrentWorkflowTaskExecutions: _tasks,
    maxConcurrentWorkflowTaskPolls: _polls,
    ...own
  } = settings;
  return { ...own, ...(connection !== undefined && { connection }) };
}

/**
 * Runs a worker together with a second one, which is shut down when the first one is. The first
 * starts at once, so that its owner can stop it. @throws Error if one fails; the other is then shut
 * down
 */
export async function runWithSecond(
  main: Pick<Worker, 'getState' | 'shutdown'>,
  createBeside: () => Promise<Worker>,
  runMain: () => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const running = runMain().finally(() => {
    over.abort();
  });
  const following = follow(main, over.signal, createBeside).catch(async (error: unknown) => {
    await untilRunning(main, over.signal);
    end(main);
    throw error;
  });
  const ends = await Promise.allSettled([running, following]);
  for (const each of ends) if (each.status === 'rejected') throw each.reason;
}

/** Waits until the worker runs, which plugins of its owner may delay. */
async function untilRunning(main: Pick<Worker, 'getState'>, over: AbortSignal): Promise<void> {
  while (!over.aborted && main.getState() === 'INITIALIZED') {
    await setTimeout(LOOK_MS, undefined, { ref: false });
  }
}

async function follow(
  main: Pick<Worker, 'getState'>,
  over: AbortSignal,
  createBeside: () => Promise<Worker>,
): Promise<void> {
  const beside = await createBeside();
  const ended = new AbortController();
  // Always run it: a worker that never ran prevents its connection from being closed.
  const running = beside.run().finally(() => {
    ended.abort();
  });
  running.catch(() => undefined);
  await untilRunning(main, over);
  while (!ended.signal.aborted && main.getState() === 'RUNNING') {
    await setTimeout(LOOK_MS, undefined, { ref: false });
  }
  end(beside);
  await running;
}

function end(worker: Pick<Worker, 'getState' | 'shutdown'>): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}
