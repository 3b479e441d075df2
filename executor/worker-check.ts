import type { Client } from '@temporalio/client';
import { lastPoll, POLL_MS } from './pollers.js';

const CHECK_MS = 1_500;

/** Whether Temporal answers, and whether a worker takes runs from the queue. */
export function createTemporalChecks(
  client: Client,
  namespace: string,
  taskQueue: string,
): { temporal: () => Promise<void>; worker: () => Promise<void> } {
  const { connection, workflowService } = client;
  return {
    temporal: async () => {
      await connection.withDeadline(Date.now() + CHECK_MS, () => workflowService.getSystemInfo({}));
    },
    worker: async () => {
      const { pollers } = await connection.withDeadline(Date.now() + CHECK_MS, () =>
        workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name: taskQueue },
        }),
      );
      if (lastPoll(pollers) < Date.now() - POLL_MS)
        throw new Error('no worker polls the task queue');
    },
  };
}
