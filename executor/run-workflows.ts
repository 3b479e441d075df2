import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
  WorkflowNotFoundError,
  type SearchAttributePair,
} from '@temporalio/common';
import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { workflowIdOf } from '../protocol/ids.js';
import type { AnswerSignal, RunInput, StopSignal } from '../protocol/run.js';
import { SIGNALS, WORKFLOW_TASK_TIMEOUT_MS, WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import { withinDeadline } from './temporal-calls.js';

/** What Temporal knows of a run. */
export type WorkflowState = 'running' | 'closed' | 'unknown';

/** The runs' workflows: start, wake, look. Every call is bounded in time. */
export interface RunWorkflows {
  /** Harmless when the workflow was started before. */
  start: (input: RunInput, summary: RunLabels) => Promise<void>;
  answer: (runId: string, signal: AnswerSignal) => Promise<void>;
  /** Harmless when it has closed, or was never started. */
  stop: (runId: string, signal: StopSignal) => Promise<void>;
  state: (runId: string) => Promise<WorkflowState>;
}

/** Static texts of a run in the Temporal UI. */
export interface RunLabels {
  tenant?: string;
  details: string;
}

const keys = {
  AgentSession: defineSearchAttributeKey('AgentSession', SearchAttributeType.KEYWORD),
  AgentName: defineSearchAttributeKey('AgentName', SearchAttributeType.KEYWORD),
  AgentStatus: defineSearchAttributeKey('AgentStatus', SearchAttributeType.KEYWORD),
  AgentTenant: defineSearchAttributeKey('AgentTenant', SearchAttributeType.KEYWORD),
  AgentModel: defineSearchAttributeKey('AgentModel', SearchAttributeType.KEYWORD),
  AgentTurn: defineSearchAttributeKey('AgentTurn', SearchAttributeType.INT),
};

export function createRunWorkflows(client: Client, taskQueue: string): RunWorkflows {
  const call = <T>(work: () => Promise<T>): Promise<T> => withinDeadline(client.connection, work);

  return {
    start: async (input, labels) => {
      try {
        await call(() =>
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
        );
      } catch (error) {
        // It ran and has closed: what it did stands in the record.
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
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
  };
}

function toAttributes(input: RunInput, { tenant }: RunLabels): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [
    { key: keys.AgentSession, value: input.sessionId },
    { key: keys.AgentName, value: input.agent },
    { key: keys.AgentStatus, value: 'running' },
    { key: keys.AgentTurn, value: input.turn },
  ];
  if (tenant !== undefined) pairs.push({ key: keys.AgentTenant, value: tenant });
  if (input.model !== undefined) pairs.push({ key: keys.AgentModel, value: input.model });
  return new TypedSearchAttributes(pairs);
}
