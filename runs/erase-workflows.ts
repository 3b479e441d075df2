import type { Client } from '@temporalio/client';
import { deliveryWorkflowIdOf, toolWorkflowIdOf, workflowIdOf } from '../protocol/ids.js';
import type { Erasure } from '../store/contract/erasures.js';
import { toDeliveryPrefix } from './deliveries.js';
import { codeOf, isRefusedForGood, withinDeadline } from './temporal-calls.js';

/** The result of deleting a conversation's workflows in Temporal. */
export interface ErasedWorkflows {
  /** Number of workflows with deleted executions. */
  deleted: number;
  /** Ids of the runs that Temporal did not know. */
  unknown: string[];
}

/** The runs of a conversation, from its record. */
export type RunsOfSession = Pick<Erasure, 'runs' | 'parts' | 'childRuns' | 'calls' | 'owner'>;

/** Id prefixes of a run's workflows: the run, work of its calls, notices of waits and end. */
const KINDS = ['run', 'call', 'wait', 'end'];
const AT_ONCE = 10;
/** Servers that delete many may be slow. */
const DELETE_MS = 5_000;
const LIST_MS = 10_000;
/** gRPC: not found. */
const NOT_FOUND = 5;

/**
 * Deletes the workflows and histories of a conversation's runs, of its sub-agents and of their
 * notices; those that still run are terminated. The record's ids find the runs and the work of
 * their last calls, a list of Temporal's the rest. Of the list only workflows of these runs count,
 * since another conversation may have the id by now.
 */
export async function eraseWorkflows(
  client: Client,
  sessionId: string,
  { runs, parts, childRuns, calls, owner }: RunsOfSession,
): Promise<ErasedWorkflows> {
  const { connection, workflowService } = client;
  const { namespace } = client.options;

  /** Returns false if there is no such execution; without a run id it takes the newest. */
  async function erase(workflowId: string, runId?: string): Promise<boolean> {
    const workflowExecution = { workflowId, ...(runId !== undefined && { runId }) };
    try {
      await withinDeadline(
        connection,
        () => workflowService.deleteWorkflowExecution({ namespace, workflowExecution }),
        DELETE_MS,
      );
      return true;
    } catch (error) {
      if (codeOf(error) === NOT_FOUND) return false;
      throw error;
    }
  }

  const own = new Set(runs);
  const below = new Set(parts.map((part) => `${sessionId}.${part}`));
  const deliveries = deliveryWorkflowIdOf(toDeliveryPrefix(sessionId, owner.tenant));
  const belongs = (workflowId: string): boolean => {
    if (workflowId.startsWith(deliveries)) return true;
    const [, session = '', nth = ''] = workflowId.split(':');
    return own.has(`${session}:${nth}`) || below.has(session);
  };

  async function list(): Promise<{ workflowId: string; runId: string }[]> {
    const ofRuns = KINDS.flatMap((kind) => [`${kind}:${sessionId}:`, `${kind}:${sessionId}.`]);
    const query = [...ofRuns, deliveries]
      .map((prefix) => `WorkflowId STARTS_WITH '${prefix}'`)
      .join(' OR ');
    try {
      return await withinDeadline(
        connection,
        async () => {
          const found: { workflowId: string; runId: string }[] = [];
          for await (const { workflowId, runId } of client.workflow.list({ query })) {
            if (belongs(workflowId)) found.push({ workflowId, runId });
          }
          return found;
        },
        LIST_MS,
      );
    } catch (error) {
      // Some visibility stores lack this operator.
      if (isRefusedForGood(error)) return [];
      throw error;
    }
  }

  const deleted = new Set<string>();
  const unknown: string[] = [];
  const listed = await list();
  for (const page of pagesOf([...runs, ...childRuns])) {
    const found = await Promise.all(page.map((runId) => erase(workflowIdOf(runId))));
    for (const [at, runId] of page.entries()) {
      if (found[at] === true) deleted.add(workflowIdOf(runId));
      else unknown.push(runId);
    }
  }
  // The list is seconds late, and the work of tools holds what people wrote.
  for (const page of pagesOf(calls)) {
    const ids = page.map((call) => toolWorkflowIdOf(...call));
    const found = await Promise.all(ids.map((workflowId) => erase(workflowId)));
    for (const [at, workflowId] of ids.entries()) if (found[at] === true) deleted.add(workflowId);
  }
  // Deleting takes a while, so the list may have executions that were deleted above.
  for (const page of pagesOf(listed)) {
    const found = await Promise.all(page.map(({ workflowId, runId }) => erase(workflowId, runId)));
    for (const [at, { workflowId }] of page.entries()) {
      if (found[at] === true) deleted.add(workflowId);
    }
  }
  return { deleted: deleted.size, unknown };
}

function* pagesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let at = 0; at < items.length; at += AT_ONCE) yield items.slice(at, at + AT_ONCE);
}
