import { WorkflowFailedError, type Client } from '@temporalio/client';
import {
  ApplicationFailure,
  TimeoutFailure,
  TimeoutType,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from '@temporalio/common';
import { ToolError } from '../agents/tool-error.js';
import { toolWorkflowIdOf } from '../protocol/ids.js';
import { TOOL_WORK_WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import { retryDelay, sleep } from '../protocol/time.js';
import type { ExecuteToolWork, ToolWork } from '../protocol/tool-work.js';
import { isRefusedForGood } from './grpc-status.js';

/** While Temporal is away it is asked again. */
const AGAIN = { firstMs: 200, mostMs: 5_000 };

/**
 * Executes activities and Nexus operations for tools: a workflow for each call, named after it, so an
 * attempt that takes over finds what the lost one has started, or its result.
 */
export function createToolWork(client: Client, taskQueue: string): ExecuteToolWork {
  return async (request, { signal, isHandedOver }) => {
    const { work, call } = request;
    const workflowId = toolWorkflowIdOf(call.runId, call.toolCallId);
    const handle = client.workflow.getHandle(workflowId);
    const start = async (): Promise<void> => {
      try {
        await client.workflow.start(TOOL_WORK_WORKFLOW_TYPE, {
          workflowId,
          taskQueue,
          args: [request],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowExecutionTimeout: work.options.scheduleToCloseTimeout + GRACE_MS,
          staticSummary: `${work.name} for \`${call.runId}\``,
        });
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
    };
    const cancel = (): void => {
      // Its end by time is the backstop.
      if (!isHandedOver()) handle.cancel().catch(() => undefined);
    };
    await untilDone(start, signal);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      // The call may have been stopped while its work was being started.
      if (signal.aborted) cancel();
      return await untilDone(() => handle.result() as Promise<unknown>, signal);
    } catch (error) {
      throw error instanceof WorkflowFailedError ? toToolError(work, error) : error;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

/** The activity's own limit comes first. */
const GRACE_MS = 60_000;

async function untilDone<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const isFinal =
        error instanceof WorkflowFailedError ||
        error instanceof WorkflowNotFoundError ||
        isRefusedForGood(error);
      if (isFinal || signal.aborted) throw error;
      await sleep(retryDelay({ attempt, ...AGAIN }), signal);
    }
  }
}

/** What the model gets. */
function toToolError({ name, ...work }: ToolWork, failed: WorkflowFailedError): ToolError {
  let cause: Error = failed;
  while (cause.cause instanceof Error) ({ cause } = cause as { cause: Error });
  if (cause instanceof TimeoutFailure) {
    if (cause.timeoutType === TimeoutType.SCHEDULE_TO_START) {
      return new ToolError('tool_timeout', `No worker took "${name}" in time.`, failed);
    }
    const mayRepeat = work.kind === 'activity' && work.options.retry.maximumAttempts !== 1;
    return mayRepeat
      ? new ToolError('tool_timeout', `"${name}" took longer than allowed.`, failed)
      : new ToolError(
          'tool_outcome_unknown',
          `Whether "${name}" took effect is not known.`,
          failed,
        );
  }
  const message =
    cause instanceof ApplicationFailure ? cause.message : `"${name}" was not carried out.`;
  return new ToolError('tool_execution_failed', message, failed);
}
