import { randomUUID } from 'node:crypto';
import type {
  Client,
  WorkflowHandle,
  WorkflowHandleWithFirstExecutionRunId,
  WorkflowStartOptions,
} from '@temporalio/client';
import { untilFound, wallClock } from '../clock.js';
import type { Span } from './worker.js';
import type * as workflows from './workflows.js';

export const FLOOR_TASK_QUEUE = 'bench-floor';

/** Starts the floor's workflows with the same kind of client as the product. */
export interface Floor {
  /** Runs `count` activities one after the other. */
  runSteps: (count: number) => Promise<{ workflowId: string; spans: Span[] }>;
  /**
   * Resolves when the workflow waits. `release` signals it, runs `after` more activities, and resolves to the
   * ms until the last of them began.
   */
  startWaiting: (after: number) => Promise<{ release: () => Promise<number> }>;
  /** Runs steps with the shape of agents' steps with two tools; resolves at their end. */
  runPairs: (steps: number) => Promise<{ workflowId: string }>;
  /** Runs steps of `workMs` each; resolves to the ms until the first one began. */
  runWork: (steps: number, workMs: number) => Promise<number>;
  /** Resolves when the activity hangs; `cancel` resolves to the time when the activity noticed it. */
  startHanging: () => Promise<{ cancel: () => Promise<number> }>;
  /** Resolves to the hanging activity's worker; `retried` resolves to the start of the next attempt. */
  startOutliving: () => Promise<{ worker: string; retried: Promise<number> }>;
}

type Floors = typeof workflows;

export function createFloor(client: Client, taskQueue = FLOOR_TASK_QUEUE): Floor {
  const start = <N extends keyof Floors>(
    name: N,
    ...args: Parameters<Floors[N]>
  ): Promise<WorkflowHandleWithFirstExecutionRunId<Floors[N]>> => {
    const options = { workflowId: `floor:${randomUUID()}`, taskQueue, args };
    return client.workflow.start(name, options as unknown as WorkflowStartOptions<Floors[N]>);
  };

  return {
    runSteps: async (count) => {
      const handle = await start('floorSteps', count);
      return { workflowId: handle.workflowId, spans: await handle.result() };
    },
    startWaiting: async (after) => {
      const handle = await start('floorWait', after);
      await untilWaiting(handle);
      return {
        release: async () => {
          const from = wallClock();
          await handle.signal('release');
          return ((await handle.result())?.begin ?? NaN) - from;
        },
      };
    },
    runPairs: async (steps) => {
      const handle = await start('floorPairs', steps);
      await handle.result();
      return { workflowId: handle.workflowId };
    },
    runWork: async (steps, workMs) => {
      const from = wallClock();
      const handle = await start('floorRun', steps, workMs);
      return (await handle.result()).begin - from;
    },
    startHanging: async () => {
      const handle = await start('floorHang');
      await untilAtWork(handle);
      return {
        cancel: async () => {
          await handle.cancel();
          return handle.result();
        },
      };
    },
    startOutliving: async () => {
      const handle = await start('floorOutlive');
      return { worker: await untilAtWork(handle), retried: handle.result() };
    },
  };
}

/**
 * Resolves when the workflow has no task and no activity. A signal that arrives during a task waits for its end,
 * which a person who answers seconds later never notices.
 */
export async function untilWaiting(handle: Pick<WorkflowHandle, 'describe'>): Promise<void> {
  const waits = async (): Promise<true | undefined> => {
    const { status, raw } = await handle.describe();
    if (status.name !== 'RUNNING') throw new Error(`a run is ${status.name} before its answer`);
    const { pendingActivities, pendingWorkflowTask } = raw;
    return (pendingWorkflowTask == null && !pendingActivities?.length) || undefined;
  };
  await untilFound(waits, { everyMs: 20 });
}

/** State of a pending activity in Temporal's API. */
const STARTED = 2;

/** Resolves to the worker's identity once an activity has started. */
export async function untilAtWork(handle: Pick<WorkflowHandle, 'describe'>): Promise<string> {
  const identity = async (): Promise<string | undefined> => {
    const { raw } = await handle.describe();
    const started = raw.pendingActivities?.find(({ state }) => Number(state) === STARTED);
    return started?.lastWorkerIdentity ?? undefined;
  };
  return (await untilFound(identity, { everyMs: 20 })) ?? '';
}
