import type { Client } from '@temporalio/client';

/** What is kept of a workflow: over all its executions, and those of its children. */
export interface History {
  events: number;
  bytes: number;
  /** Its own. */
  executions: number;
}

/** Reads what a workflow that is over has left in Temporal, from its newest execution backwards. */
export async function readHistory(client: Client, workflowId: string): Promise<History> {
  const { workflow } = client;
  const total: History = { events: 0, bytes: 0, executions: 0 };
  const children: string[] = [];
  let runId: string | undefined;
  do {
    const handle = workflow.getHandle(workflowId, runId);
    const { historyLength, historySize = NaN } = await handle.describe();
    total.events += historyLength;
    total.bytes += historySize;
    total.executions += 1;
    const { events } = await handle.fetchHistory();
    for (const event of events ?? []) {
      const child = event.childWorkflowExecutionStartedEventAttributes?.workflowExecution;
      if (typeof child?.workflowId === 'string') children.push(child.workflowId);
    }
    const begin = events?.[0]?.workflowExecutionStartedEventAttributes;
    // Empty for the first execution.
    runId = begin?.continuedExecutionRunId ?? undefined;
  } while (runId !== undefined && runId !== '');
  for (const child of children) {
    const { events, bytes } = await readHistory(client, child);
    total.events += events;
    total.bytes += bytes;
  }
  return total;
}
