import type { Client } from '@temporalio/client';

const CHECK_MS = 1_500;
/** Workers ask again at least this often; Temporal lists those that went for minutes longer. */
const POLL_MS = 70_000;

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
      const since = Date.now() - POLL_MS;
      const isPolled = pollers.some(({ lastAccessTime }) => toMs(lastAccessTime) > since);
      if (!isPolled) throw new Error('no worker polls the task queue');
    },
  };
}

function toMs(time: { seconds?: unknown } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1000;
}
