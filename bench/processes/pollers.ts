import type { Client } from '@temporalio/client';
import { sleep } from '../clock.js';

const WITHIN_MS = 30_000;

/** Resolves when the worker of that process id asks the queue for work. */
export async function untilPolls(client: Client, taskQueue: string, pid: number): Promise<void> {
  const { workflowService } = client.connection;
  const giveUpAt = Date.now() + WITHIN_MS;
  for (;;) {
    const { pollers } = await workflowService.describeTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: taskQueue },
    });
    const polling = pollers.map(({ identity }) => pidOf(identity ?? ''));
    if (polling.includes(pid)) return;
    if (Date.now() > giveUpAt) {
      const seen = polling.length > 0 ? polling.join(', ') : 'no process';
      throw new Error(`worker ${String(pid)} does not poll ${taskQueue}; ${seen} did`);
    }
    await sleep(50);
  }
}

/** Process id in the identity that workers of this SDK have. */
export function pidOf(identity: string): number {
  return Number(identity.split('@')[0]);
}
