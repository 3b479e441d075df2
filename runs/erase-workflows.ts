import type { Client } from '@temporalio/client';
import { deliveryWorkflowIdOf, toolWorkflowIdOf, workflowIdOf } from '../protocol/ids.js';
import type { Erasure } from '../store/contract/erasures.js';
import { toDeliveryPrefix } from './deliveries.js';
import { codeOf, isRefusedForGood, withinDeadline } from './temporal-calls.js';

export interface ErasedWorkflows {
  deleted: number;
  /** Ids of the runs that Temporal did not know. */
  unknown: string[];
}

export type RunsOfSession = Pick<Erasure, 'runs' | 'parts' | 'childRuns' | 'calls' | 'owner'>;

/** Id prefixes of a run's workflows: the run, work of its calls, notices of waits and end. */
const KINDS = ['run', 'call', 'wait', 'end'];
const AT_ONCE = 10;
/** Servers that delete or list many may be slow. */
const DELETE_MS = 5_000;
const LIST_MS = 10_000;
/** gRPC's code. */
const NOT_FOUND = 5;

interface Execution {
  workflowId: string;
  runId?: string;
}

/**
 * Deletes the workflows of a conversation's runs, sub-agents and notices; those that still run are
 * terminated. The record's ids find most, a list of Temporal's the rest, of which only these runs'
 * count: another conversation may have the id by now.
 */
export async function eraseWorkflows(
  client: Client,
  sessionId: string,
  { runs, parts, childRuns, calls, owner }: RunsOfSession,
): Promise<ErasedWorkflows> {
  const { connection, workflowService } = client;
  const { namespace } = client.options;

  const deleted = new Set<string>();

  /** Does nothing if there is no such execution; without a run id it takes the newest. */
  async function erase({ workflowId, runId }: Execution): Promise<void> {
    const workflowExecution = { workflowId, runId };
    try {
      await withinDeadline(
        connection,
        () => workflowService.deleteWorkflowExecution({ namespace, workflowExecution }),
        DELETE_MS,
      );
      deleted.add(workflowId);
    } catch (error) {
      if (codeOf(error) !== NOT_FOUND) throw error;
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

  async function list(): Promise<Execution[]> {
    const ofRuns = KINDS.flatMap((kind) => [`${kind}:${sessionId}:`, `${kind}:${sessionId}.`]);
    const query = [...ofRuns, deliveries]
      .map((prefix) => `WorkflowId STARTS_WITH '${prefix}'`)
      .join(' OR ');
    try {
      return await withinDeadline(
        connection,
        async () => {
          const found: Execution[] = [];
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

  async function eraseAll(executions: readonly Execution[]): Promise<void> {
    for (let at = 0; at < executions.length; at += AT_ONCE) {
      await Promise.all(executions.slice(at, at + AT_ONCE).map(erase));
    }
  }

  const listed = await list();
  const ofRuns = [...runs, ...childRuns];
  await eraseAll(ofRuns.map((runId) => ({ workflowId: workflowIdOf(runId) })));
  // The list is seconds late, and the work of tools holds what people wrote.
  await eraseAll(calls.map((call) => ({ workflowId: toolWorkflowIdOf(...call) })));
  // Deleting takes a while, so the list may have executions that were deleted above.
  await eraseAll(listed);
  const unknown = ofRuns.filter((runId) => !deleted.has(workflowIdOf(runId)));
  return { deleted: deleted.size, unknown };
}
