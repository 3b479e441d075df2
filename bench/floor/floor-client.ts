import { randomUUID } from 'node:crypto';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { untilFound, wallClock } from '../clock.js';
import type { Span } from './worker.js';
import type {
  floorChildren,
  floorHang,
  floorOutlive,
  floorPairs,
  floorRun,
  floorSteps,
  floorWait,
} from './workflows.js';

export const FLOOR_TASK_QUEUE = 'bench-floor';
/** Events of history once the wait has begun: start, one activity, and the task that took its result. */
const WAITING_EVENTS = 10;

/** Starts the floor's workflows, through the same kind of client as the product's. */
export interface Floor {
  /** Runs so many activities one after another. */
  runSteps: (count: number) => Promise<{ workflowId: string; spans: Span[] }>;
  /**
   * Resolves when the workflow waits; `release` signals it and resolves, when so many more activities
   * have run, with the ms until the last of them began.
   */
  startWaiting: (after?: number) => Promise<{ workflowId: string; release: () => Promise<number> }>;
  /** Steps of the shapes that agents' steps have; resolves when they are over. */
  runShape: (shape: 'pairs' | 'children', steps: number) => Promise<{ workflowId: string }>;
  /** Steps that take their time; resolves with the ms until the first one began. */
  runWork: (steps: number, workMs: number) => Promise<number>;
  /** Resolves when the activity hangs; `cancel` says when it learned that it was cancelled. */
  startHanging: () => Promise<{ cancel: () => Promise<number> }>;
  /** Resolves when the activity hangs, with the worker that has it; `retried`: when the next attempt began. */
  startOutliving: () => Promise<{ worker: string; retried: Promise<number> }>;
}

export function createFloor(client: Client, taskQueue = FLOOR_TASK_QUEUE): Floor {
  const options = (): { workflowId: string; taskQueue: string } => ({
    workflowId: `floor:${randomUUID()}`,
    taskQueue,
  });

  return {
    runSteps: async (count) => {
      const handle = await client.workflow.start<typeof floorSteps>('floorSteps', {
        ...options(),
        args: [count],
      });
      return { workflowId: handle.workflowId, spans: await handle.result() };
    },
    startWaiting: async (after = 0) => {
      const handle = await client.workflow.start<typeof floorWait>('floorWait', {
        ...options(),
        args: [after],
      });
      const waits = async (): Promise<true | undefined> =>
        (await handle.describe()).historyLength >= WAITING_EVENTS || undefined;
      await untilFound(waits, { everyMs: 20 });
      return {
        workflowId: handle.workflowId,
        release: async () => {
          const from = wallClock();
          await handle.signal('release');
          return ((await handle.result())?.begin ?? NaN) - from;
        },
      };
    },
    runShape: async (shape, steps) => {
      const handle = await client.workflow.start<typeof floorPairs | typeof floorChildren>(
        shape === 'pairs' ? 'floorPairs' : 'floorChildren',
        { ...options(), args: [steps] },
      );
      await handle.result();
      return { workflowId: handle.workflowId };
    },
    runWork: async (steps, workMs) => {
      const from = wallClock();
      const span = await client.workflow.execute<typeof floorRun>('floorRun', {
        ...options(),
        args: [steps, workMs],
      });
      return span.begin - from;
    },
    startHanging: async () => {
      const handle = await client.workflow.start<typeof floorHang>('floorHang', options());
      await untilAtWork(handle);
      return {
        cancel: async () => {
          await handle.cancel();
          return handle.result();
        },
      };
    },
    startOutliving: async () => {
      const handle = await client.workflow.start<typeof floorOutlive>('floorOutlive', options());
      return { worker: await untilAtWork(handle), retried: handle.result() };
    },
  };
}

/** State of a pending activity in Temporal's API. */
const STARTED = 2;

/** Resolves when an activity has started, with the identity of its worker. */
export async function untilAtWork(handle: Pick<WorkflowHandle, 'describe'>): Promise<string> {
  const identity = async (): Promise<string | undefined> => {
    const { raw } = await handle.describe();
    const started = raw.pendingActivities?.find(({ state }) => Number(state) === STARTED);
    return started?.lastWorkerIdentity ?? undefined;
  };
  return (await untilFound(identity, { everyMs: 20 })) ?? '';
}
