import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { sleep } from '../clock.js';
import { FLOOR_TASK_QUEUE, type Span } from './names.js';
import type { floorHang, floorSteps, floorWait } from './workflows.js';

/** Events of history once the wait has begun: start, one activity, and the task that took its result. */
const WAITING_EVENTS = 10;

/** Starts the floor's workflows, through the same kind of client as the product's. */
export interface Floor {
  /** Runs so many activities one after another. */
  runSteps: (count: number) => Promise<{ workflowId: string; spans: Span[] }>;
  /** Resolves when the workflow waits. */
  startWaiting: () => Promise<void>;
  /** Resolves when the activity hangs; `cancel` says when it learned that it was cancelled. */
  startHanging: () => Promise<{ cancel: () => Promise<number> }>;
}

export function createFloor(client: Client): Floor {
  const options = (): { workflowId: string; taskQueue: string } => ({
    workflowId: `floor:${randomUUID()}`,
    taskQueue: FLOOR_TASK_QUEUE,
  });

  return {
    runSteps: async (count) => {
      const handle = await client.workflow.start<typeof floorSteps>('floorSteps', {
        ...options(),
        args: [count],
      });
      return { workflowId: handle.workflowId, spans: await handle.result() };
    },
    startWaiting: async () => {
      const handle = await client.workflow.start<typeof floorWait>('floorWait', options());
      await until(async () => (await handle.describe()).historyLength >= WAITING_EVENTS);
    },
    startHanging: async () => {
      const handle = await client.workflow.start<typeof floorHang>('floorHang', options());
      await until(async () => {
        const { raw } = await handle.describe();
        return raw.pendingActivities?.some(({ state }) => Number(state) === STARTED) === true;
      });
      return {
        cancel: async () => {
          await handle.cancel();
          return handle.result();
        },
      };
    },
  };
}

/** State of a pending activity in Temporal's API. */
const STARTED = 2;

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(20);
}
