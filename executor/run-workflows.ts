import { WorkflowNotFoundError } from '@temporalio/common';
import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { workflowIdOf } from '../protocol/ids.js';
import type { AnswerSignal, RunInput, StopSignal } from '../protocol/run.js';
import { SIGNALS, WORKFLOW_TASK_TIMEOUT_MS, WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import { toAttributes, type RunLabels } from './run-attributes.js';
import { isRefusedForGood, withinDeadline } from './temporal-calls.js';

/** What Temporal knows of a run. */
export type WorkflowState = 'running' | 'closed' | 'unknown';

/** The runs' workflows: start, wake, look. Every call is bounded in time. */
export interface RunWorkflows {
  /** The namespace and task queue that they are of. */
  readonly fleet: string;
  /** Harmless when the workflow was started before. */
  start: (input: RunInput, summary: RunLabels) => Promise<void>;
  answer: (runId: string, signal: AnswerSignal) => Promise<void>;
  /** Harmless when it has closed, or was never started. */
  stop: (runId: string, signal: StopSignal) => Promise<void>;
  state: (runId: string) => Promise<WorkflowState>;
  /** Runs whose workflows ended otherwise than by themselves, since a time in ms since the epoch. */
  closedSince: (since: number) => Promise<string[]>;
}

/** A list of closed workflows comes in pages; many at once are those of an operator's batch. */
const LIST_MS = 10_000;
const MOST_LISTED = 10_000;

/** Nobody waits for a start; a server that many runs are begun on at once takes its time. */
const START_MS = 5_000;
/** Once the server has refused search attributes, runs go without for this long. */
const BARE_MS = 60_000;

export function createRunWorkflows(client: Client, taskQueue: string): RunWorkflows {
  const call = <T>(work: () => Promise<T>, deadlineMs?: number): Promise<T> =>
    withinDeadline(client.connection, work, deadlineMs);
  let bareUntil = 0;

  async function start(input: RunInput, labels: RunLabels): Promise<void> {
    try {
      await call(
        () =>
          client.workflow.start(WORKFLOW_TYPE, {
            workflowId: workflowIdOf(input.runId),
            taskQueue,
            args: [input],
            workflowIdReusePolicy: 'REJECT_DUPLICATE',
            workflowIdConflictPolicy: 'USE_EXISTING',
            workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
            staticSummary: `${input.agent}: turn ${String(input.turn)} of ${input.sessionId}`,
            staticDetails: labels.details,
            ...(input.searchAttributes && { typedSearchAttributes: toAttributes(input, labels) }),
          }),
        START_MS,
      );
    } catch (error) {
      // It ran and has closed: what it did stands in the record.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  return {
    fleet: `${client.options.namespace}/${taskQueue}`,
    start: async (input, labels) => {
      const isBare = !input.searchAttributes || Date.now() < bareUntil;
      try {
        await start({ ...input, searchAttributes: !isBare }, labels);
      } catch (error) {
        if (isBare || !isRefusedForGood(error)) throw error;
        // Of another type, or not known everywhere yet: labels are no reason to refuse work.
        await start({ ...input, searchAttributes: false }, labels);
        bareUntil = Date.now() + BARE_MS;
      }
    },
    answer: (runId, signal) =>
      call(() => client.workflow.getHandle(workflowIdOf(runId)).signal(SIGNALS.answer, signal)),
    stop: async (runId, signal) => {
      try {
        await call(() =>
          client.workflow.getHandle(workflowIdOf(runId)).signal(SIGNALS.stop, signal),
        );
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    },
    state: async (runId) => {
      try {
        const { status } = await call(() =>
          client.workflow.getHandle(workflowIdOf(runId)).describe(),
        );
        return status.name === 'RUNNING' || status.name === 'PAUSED' ? 'running' : 'closed';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return 'unknown';
        throw error;
      }
    },
    closedSince: (since) =>
      call(async () => {
        const runIds: string[] = [];
        for await (const { workflowId } of client.workflow.list({
          query: toClosedQuery(taskQueue, since),
        })) {
          if (workflowId.startsWith(PREFIX)) runIds.push(workflowId.slice(PREFIX.length));
          if (runIds.length >= MOST_LISTED) break;
        }
        return runIds;
      }, LIST_MS),
  };
}

const PREFIX = workflowIdOf('');

/** One that completed has ended its run before. */
function toClosedQuery(taskQueue: string, since: number): string {
  const queue = taskQueue.replaceAll("'", "''");
  return [
    `WorkflowType = '${WORKFLOW_TYPE}'`,
    `TaskQueue = '${queue}'`,
    "ExecutionStatus IN ('Failed', 'Terminated', 'TimedOut', 'Canceled')",
    `CloseTime >= '${new Date(since).toISOString()}'`,
  ].join(' AND ');
}
