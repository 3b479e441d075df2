import { randomUUID } from 'node:crypto';
import type { Client, WorkflowHandle, WorkflowStartOptions } from '@temporalio/client';
import { untilFound, wallClock } from '../clock.js';
import type * as workflows from './workflows.js';

export const FLOOR_TASK_QUEUE = 'bench-floor';

type Floors = typeof workflows;

export type Floor = ReturnType<typeof createFloor>;

/** Starts the floor's workflows with the same kind of client as the product. */
export function createFloor(client: Client, taskQueue = FLOOR_TASK_QUEUE) {
  const start = <N extends keyof Floors>(name: N, ...args: Parameters<Floors[N]>) => {
    const options = { workflowId: `floor:${randomUUID()}`, taskQueue, args };
    return client.workflow.start(name, options as unknown as WorkflowStartOptions<Floors[N]>);
  };

  return {
    /** Runs `count` activities one after the other. */
    runSteps: async (count: number) => {
      const handle = await start('floorSteps', count);
      return { workflowId: handle.workflowId, spans: await handle.result() };
    },
    /**
     * Resolves when the workflow waits. `release` signals it, runs `after` more activities, and resolves to the
     * ms until the last of them began.
     */
    startWaiting: async (after: number) => {
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
    /** Runs steps with the shape of agents' steps with two tools; resolves at their end. */
    runPairs: async (steps: number) => {
      const handle = await start('floorPairs', steps);
      await handle.result();
      return { workflowId: handle.workflowId };
    },
    /** Runs steps of `workMs` each; resolves to the ms until the first one began. */
    runWork: async (steps: number, workMs: number) => {
      const from = wallClock();
      const handle = await start('floorRun', steps, workMs);
      return (await handle.result()).begin - from;
    },
    /** Resolves when the activity hangs; `cancel` resolves to the time when the activity noticed it. */
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
    /** Resolves to the hanging activity's worker; `retried` resolves to the start of the next attempt. */
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
