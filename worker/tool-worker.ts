import { setTimeout } from 'node:timers/promises';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import type { RunActivities } from '../protocol/activities.js';
import { toolQueueOf } from '../protocol/temporal-names.js';
import { HELD_CALLS_PER_SLOT } from './worker-settings.js';

const LOOK_MS = 50;

/** Of the ten seconds after which a tool's attempt counts as dead. */
const HEARTBEAT_EVERY = '4s';

/**
 * The worker that carries out tools, beside the one that runs workflows and models: on a queue and in
 * slots of its own, so that tools that take long keep no model waiting. Its settings are the other's.
 *
 * @param slots tools that are executed at once
 */
export function createToolWorker(
  { connection, taskQueue, ...settings }: WorkerOptions,
  toolCall: RunActivities['toolCall'],
  slots: number,
): Promise<Worker> {
  const {
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
  return Worker.create({
    ...own,
    ...(connection !== undefined && { connection }),
    taskQueue: toolQueueOf(taskQueue),
    activities: { toolCall },
    // Calls that wait for their place beat as well, and each beat is a write of the server's.
    maxHeartbeatThrottleInterval: HEARTBEAT_EVERY,
    defaultHeartbeatThrottleInterval: HEARTBEAT_EVERY,
    maxConcurrentActivityTaskExecutions: slots * HELD_CALLS_PER_SLOT,
  });
}

/**
 * Runs a worker as long as another one runs: it is told to go when that one is.
 *
 * @throws Error if it fails; the other is told to go then
 */
export async function runBeside(
  main: Pick<Worker, 'getState' | 'shutdown'>,
  beside: Worker,
  runMain: () => Promise<void>,
): Promise<void> {
  const life = new AbortController();
  const end = (worker: Pick<Worker, 'getState' | 'shutdown'>): void => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  async function follow(): Promise<void> {
    while (!life.signal.aborted && isRunning(main)) {
      await setTimeout(LOOK_MS, undefined, { ref: false });
    }
    end(beside);
  }
  const running = beside.run();
  const following = follow();
  // What ends by a fault takes the other along.
  const guarded = running.catch((error: unknown) => {
    end(main);
    throw error;
  });
  guarded.catch(() => undefined);
  try {
    await runMain();
  } finally {
    life.abort();
    await following;
  }
  await guarded;
}

function isRunning(worker: Pick<Worker, 'getState'>): boolean {
  const state = worker.getState();
  return state === 'INITIALIZED' || state === 'RUNNING';
}
