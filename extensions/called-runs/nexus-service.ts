import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { startWorkflow, WorkflowRunOperationHandler } from '@temporalio/nexus';
import { HandlerError, operation, OperationError, service, serviceHandler } from 'nexus-rpc';
import { AgentNotFoundError } from '../../agents/index.js';
import { createCalledRuns } from './called-runs.js';
import { toAttributes } from '../../runs/search-attributes.js';
import type { Extension } from '../../extension.js';
import {
  type CalledRunLook,
  type CalledRunOptions,
  fairnessKeyOf,
  UPDATES,
  WORKFLOW_TYPE,
} from '../../protocol/temporal.js';
import { hasCode, HelixError } from '../../protocol/errors.js';
import { ANONYMOUS, isSessionId, toShownSessionId, workflowIdOf } from '../../protocol/ids.js';
import type { RunSummary } from '../../protocol/run.js';
import { TIMES } from '../../protocol/limits.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { toStoredSessionId } from '../../store/record/stored-session-id.js';
import type { WorkerHost } from '../../worker/extension.js';

/** A conversation with its owner. `userId` defaults to `anonymous`. */
export type Conversation = Required<Pick<CalledRunOptions, 'sessionId'>> &
  Pick<CalledRunOptions, 'userId' | 'tenantId'>;

/** A message to an agent. Without a `sessionId` it begins a conversation named by the request's id. */
export interface AgentCall extends Omit<CalledRunOptions, 'withoutReply' | 'whenBusy'> {
  agent: string;
  message: string;
}

/** A person's answer to a pending call, as the updates of a run accept it. Exactly one of the three fields is set. */
export interface CallAnswer extends Conversation {
  toolCallId: string;
  approved?: boolean;
  result?: unknown;
  error?: string;
  reason?: string;
  /** A call with approvers requires both ids. */
  approvalId?: string;
  inputHash?: string;
  by?: string;
}

/** The run that was answered or stopped. */
export interface RunOfConversation {
  runId: string;
}

/**
 * Nexus operations on agents, for workflows of other namespaces and languages. `run` completes with the run and has
 * no text; `result` reads it from the conversation. A cancel of `run` stops the run.
 */
export const AgentService = service('HelixAgents', {
  run: operation<AgentCall, RunSummary>({ name: 'run' }),
  result: operation<Conversation, CalledRunLook>({ name: 'result' }),
  answer: operation<CallAnswer, RunOfConversation>({ name: 'answer' }),
  stop: operation<Conversation & { reason?: string }, RunOfConversation>({ name: 'stop' }),
});

/**
 * Serves `AgentService` over Nexus in the workers of the agents. The endpoint's policy in Temporal controls access.
 * Needs the packages `nexus-rpc` and `@temporalio/nexus`.
 *
 * @param options.taskQueue task queue that the endpoint targets. Default: the agents' task queue with `-service`
 * appended
 * @example
 * import { createAgentService } from 'helix-temporal/service';
 *
 * const extensions = [createAgentService()];
 * // createAgentWorker({ …, extensions }), and once:
 * // temporal operator nexus endpoint create --name agents --target-namespace default --target-task-queue agent-runs-service
 */
export function createAgentService(options: { taskQueue?: string } = {}): Extension {
  return {
    name: 'service',
    worker: (host) => ({
      beside: {
        taskQueue: options.taskQueue ?? `${host.temporal.taskQueue}-service`,
        nexusServices: [toHandler(host)],
      },
    }),
  };
}

function toHandler({ store, agents, runs, temporal: { client, taskQueue } }: WorkerHost) {
  const called = createCalledRuns({ store, agents, runs });

  /** @throws HelixError `not_found`, even if the conversation exists but has another owner */
  async function find({ sessionId, userId, tenantId = '' }: Conversation): Promise<SessionRecord> {
    const storedId = toStoredSessionId(sessionId, tenantId || undefined);
    const record = isSessionId(sessionId) ? await store.sessions.read(storedId) : undefined;
    const { owner, tenant = '' } = record ?? {};
    if (record !== undefined && owner === (userId ?? ANONYMOUS) && tenant === tenantId) {
      return record;
    }
    throw new HelixError('not_found', 'The conversation is unknown.');
  }

  /** Begins a message's run once, even if Temporal retries the operation, and waits for its workflow. */
  const run = new WorkflowRunOperationHandler<AgentCall, RunSummary>((context, given) =>
    orRefused(async () => {
      const call = withoutNulls(given);
      const id = `nx-${context.requestId}`;
      const begun = await called.beginAgentRun({ sessionId: id, messageId: id, ...call });
      const { sessionId, runId, start } = begun;
      const record = await store.sessions.read(sessionId);
      const { agent = call.agent, turn = 1 } = record ?? {};
      if (start === undefined && record?.runId === runId && record.status === 'starting') {
        throw new HelixError('unavailable', 'The agent is paused.');
      }
      return startWorkflow<(input: object) => Promise<RunSummary>>(context, WORKFLOW_TYPE, {
        workflowId: workflowIdOf(runId),
        taskQueue,
        // An earlier attempt may have started the run: then this waits for it, or returns its outcome.
        args: [
          start?.input ?? { sessionId, runId, agent, turn, maxSteps: 1, searchAttributes: false },
        ],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowTaskTimeout: TIMES.workflowTaskMs,
        staticSummary: `${agent}: turn ${String(turn)} of ${toShownSessionId(sessionId)}`,
        ...(start !== undefined && {
          staticDetails: start.details,
          ...(start.input.searchAttributes && {
            typedSearchAttributes: toAttributes(start.input, start),
          }),
        }),
        priority: { fairnessKey: fairnessKeyOf(call.tenantId) },
      });
    }),
  );

  return serviceHandler(AgentService, {
    run,
    result: (_, conversation) =>
      orRefused(async () => called.lookAtAgentRun(await find(withoutNulls(conversation)))),
    answer: (_, given) =>
      orRefused(async () => {
        const { sessionId, userId, tenantId, approved, ...answer } = withoutNulls(given);
        const { runId } = await find({ sessionId, userId, tenantId });
        const decision = approved === true ? UPDATES.approve : UPDATES.deny;
        const update = approved === undefined ? UPDATES.submitToolResult : decision;
        await client.workflow
          .getHandle(workflowIdOf(runId))
          .executeUpdate(update, { args: [answer] });
        return { runId };
      }),
    stop: (_, given) =>
      orRefused(async () => {
        const { reason, ...conversation } = withoutNulls(given);
        const { sessionId, runId } = await find(conversation);
        await called.stopAgentRun({ sessionId, runId, reason });
        return { runId };
      }),
  });
}

/** Drops nulls, which callers in other languages send for absent fields. An absent result counts as null. */
function withoutNulls<Input extends object>(input: Input | undefined): Input {
  return Object.fromEntries(
    Object.entries(input ?? {}).filter(([, value]) => value !== null),
  ) as Input;
}

/** Turns refusals into final failures with their code as type; Temporal retries after outages. */
async function orRefused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const cause = error instanceof WorkflowUpdateFailedError ? error.cause : error;
    if (hasCode(cause, 'unavailable')) {
      throw new HandlerError('UNAVAILABLE', cause.message, { retryableOverride: true });
    }
    const failure = toFailure(cause);
    if (failure === undefined) throw error;
    throw new OperationError('failed', failure.message, { cause: failure });
  }
}

function toFailure(cause: unknown): ApplicationFailure | undefined {
  if (cause instanceof ApplicationFailure) return cause;
  if (HelixError.isInstance(cause)) {
    return ApplicationFailure.nonRetryable(cause.message, cause.code);
  }
  if (cause instanceof AgentNotFoundError) {
    return ApplicationFailure.nonRetryable(cause.message, 'agent_not_found');
  }
  if (cause instanceof WorkflowNotFoundError) {
    return ApplicationFailure.nonRetryable('The run waits for nothing.', 'not_pending');
  }
  return undefined;
}
