import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { AuditEntryReply } from '../../protocol/audit.js';
import { until } from './until.js';

async function isDeleted(temporal: Client, workflowId: string): Promise<boolean> {
  try {
    await temporal.workflow.getHandle(workflowId).describe();
    return false;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
}

/** Temporal deletes in the background: within seconds under TEST_TEMPORAL_CONFIG. */
export async function untilDeleted(temporal: Client, workflowId: string): Promise<void> {
  await until(`${workflowId} is deleted`, () => isDeleted(temporal, workflowId), 120_000);
}

/** Returns the acts on a conversation that the audit trail has, the oldest first. */
export async function actsOn(url: string, sessionId: string): Promise<AuditEntryReply[]> {
  const response = await fetch(`${url}/api/operator/audit?limit=500`);
  const { entries } = (await response.json()) as { entries: AuditEntryReply[] };
  return entries.filter(({ target }) => target.sessionId === sessionId).reverse();
}
