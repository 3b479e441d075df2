import type { Client } from '@temporalio/client';
import { sleep } from '../clock.js';

const WITHIN_MS = 30_000;

/** Resolves when the worker of that process id asks the queue for work. */
export async function untilPolls(client: Client, taskQueue: string, pid: number): Promise<void> {
  const giveUpAt = Date.now() + WITHIN_MS;
  for (;;) {
    const polling = await pollersOf(client, taskQueue);
    if (polling.has(pid)) return;
    if (Date.now() > giveUpAt) {
      const seen = polling.size > 0 ? [...polling].join(', ') : 'no process';
      throw new Error(`worker ${String(pid)} does not poll ${taskQueue}; ${seen} did`);
    }
    await sleep(50);
  }
}

/** Of all partitions of the queue: the server names of each only the workers that poll that one. */
async function pollersOf(client: Client, taskQueue: string): Promise<Set<number>> {
  const { workflowService } = client.connection;
  const { namespace } = client.options;
  const { workflowTaskQueuePartitions } = await workflowService.listTaskQueuePartitions({
    namespace,
    taskQueue: { name: taskQueue },
  });
  const partitions = await Promise.all(
    workflowTaskQueuePartitions.map(({ key }) =>
      workflowService.describeTaskQueue({ namespace, taskQueue: { name: key ?? taskQueue } }),
    ),
  );
  const pollers = partitions.flatMap((partition) => partition.pollers);
  return new Set(pollers.map(({ identity }) => pidOf(identity ?? '')));
}

/** Process id in the identity that workers of this SDK have. */
export function pidOf(identity: string): number {
  return Number(identity.split('@')[0]);
}
