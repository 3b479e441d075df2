import type { Client } from '@temporalio/client';
import { toDeliveryPrefix } from '../../runs/deliveries.js';
import { deliveryWorkflowIdOf } from '../../protocol/ids.js';
import { until } from './until.js';

/** Lists the deliveries about a conversation from Temporal, the newest execution of each. */
export async function deliveriesAbout(
  { workflow }: Client,
  sessionId: string,
): Promise<{ workflowId: string; status: string }[]> {
  const prefix = deliveryWorkflowIdOf(toDeliveryPrefix(sessionId));
  const found = new Map<string, string>();
  for await (const each of workflow.list({ query: `WorkflowId STARTS_WITH '${prefix}'` })) {
    if (!found.has(each.workflowId)) found.set(each.workflowId, each.status.name);
  }
  return [...found].map(([workflowId, status]) => ({ workflowId, status }));
}

/** Waits until a delivery to a receiver has failed; returns its workflow and the reason. */
export async function untilNotTaken(
  client: Client,
  sessionId: string,
  receiver: string,
): Promise<{ workflowId: string; reason: string }> {
  const { workflowId } = await until('a delivery has failed', async () =>
    (await deliveriesAbout(client, sessionId)).find(
      (each) => each.workflowId.endsWith(`-${receiver}`) && each.status === 'FAILED',
    ),
  );
  const failure: unknown = await client.workflow
    .getHandle(workflowId)
    .result()
    .catch((error: unknown) => error);
  const { cause } = failure as { cause?: Error };
  return { workflowId, reason: cause?.message ?? '' };
}

/** Resets a delivery to its beginning, as an operator does in the UI. */
export async function sendAgain(client: Client, workflowId: string): Promise<void> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    reason: 'the receiver is repaired',
    requestId: `${workflowId} again`,
    workflowTaskFinishEventId: first?.eventId ?? null,
  });
}
