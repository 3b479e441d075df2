import type { Client } from '@temporalio/client';

/**
 * Makes the next task of a workflow go to any worker instead of the one that has cached it, for which
 * the server would wait. Costs a replay of its history.
 */
export async function resetStickyQueue(
  { workflowService, options: { namespace } }: Pick<Client, 'workflowService' | 'options'>,
  execution: { workflowId: string; runId?: string },
): Promise<void> {
  // Without it the workflow continues as well, only later.
  await workflowService.resetStickyTaskQueue({ namespace, execution }).catch(() => undefined);
}
