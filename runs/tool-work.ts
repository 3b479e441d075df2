import { WorkflowFailedError, type Client } from '@temporalio/client';
import {
  WorkflowExecutionAlreadyStartedError,
  ActivityFailure,
  ApplicationFailure,
  NexusOperationFailure,
  TimeoutFailure,
  TimeoutType,
} from '@temporalio/common';
import { ToolError } from '../agents/tool-error.js';
import { toolWorkflowIdOf } from '../protocol/ids.js';
import {
  TOOL_WORK_WORKFLOW_TYPE,
  type ExecuteToolWork,
  type ToolWork,
} from '../protocol/temporal.js';
import { retryDelay, sleep } from '../protocol/time.js';
import { codeOf, mayPass, textOfFailure } from './temporal-calls.js';

/** Back-off while Temporal is away. */
const AGAIN = { firstMs: 200, mostMs: 5_000 };

/** Extra time of the workflow, so that the activity's own limit fires first. */
const GRACE_MS = 60_000;

interface Logger {
  warn: (fields: object, message: string) => void;
}

/**
 * Executes activities and Nexus operations for tools, each in a workflow named after the call. An
 * attempt that takes over finds the lost one's work, or its result.
 */
export function createToolWork(client: Client, taskQueue: string, logger: Logger): ExecuteToolWork {
  return async (request, { signal, isHandedOver, isRepeated, mayBeGone }) => {
    const { work, call } = request;
    const { runId, toolCallId } = call;
    const workflowId = toolWorkflowIdOf(runId, toolCallId);
    const handle = client.workflow.getHandle(workflowId);
    let mayHaveStarted = isRepeated;

    const note = (error: unknown): void => {
      // An error without a status is of a converter or codec, and may quote what people wrote.
      const why = codeOf(error) === undefined ? { error: (error as Error).name } : { err: error };
      logger.warn({ ...why, runId, toolCallId }, 'the work of a tool has trouble with Temporal');
    };
    const cancel = (): void => {
      // The workflow's time limit is the backstop.
      if (!isHandedOver()) handle.cancel().catch(() => undefined);
    };
    const start = async (): Promise<void> => {
      try {
        await client.workflow.start(TOOL_WORK_WORKFLOW_TYPE, {
          workflowId,
          taskQueue,
          args: [request],
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowExecutionTimeout: work.options.scheduleToCloseTimeout + GRACE_MS,
          staticSummary: `${work.name} for \`${runId}\``,
        });
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return;
        // The server may have started it and only the reply was lost.
        mayHaveStarted ||= mayPass(error);
        throw error;
      } finally {
        // The call may have been stopped while its work was being started.
        if (signal.aborted) cancel();
      }
    };
    const started = async (): Promise<void> => {
      try {
        await untilDone(start, signal, note);
      } catch (error) {
        throw mayHaveStarted ? toUnknown(work, error) : toUnstarted(work, error);
      }
    };

    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (!mayBeGone) await started();
      return await untilDone(() => handle.result() as Promise<unknown>, signal, note).catch(
        (error: unknown) => {
          throw error instanceof WorkflowFailedError
            ? toToolError(work, error)
            : toUnknown(work, error);
        },
      );
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

async function untilDone<T>(
  ask: () => Promise<T>,
  signal: AbortSignal,
  note: (error: unknown) => void,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const isOutcome = error instanceof WorkflowFailedError;
      const isFinal = isOutcome || !mayPass(error);
      if (!isOutcome && (attempt === 1 || isFinal)) note(error);
      if (isFinal || signal.aborted) throw error;
      await sleep(retryDelay({ attempt, ...AGAIN }), signal);
    }
  }
}

/**
 * Converts failed work for the model. It gets the message that the author's code threw, without its
 * cause. Of other failures that may have had an effect it learns only that this is unknown. Pure.
 */
function toToolError(work: ToolWork, failed: WorkflowFailedError): ToolError {
  const { cause } = failed;
  if (!(cause instanceof ActivityFailure || cause instanceof NexusOperationFailure)) {
    return toUnknown(work, failed);
  }
  const thrown = cause.cause;
  if (thrown instanceof ApplicationFailure) {
    return new ToolError('tool_execution_failed', textOfFailure(thrown), failed);
  }
  const isUntaken =
    thrown instanceof TimeoutFailure && thrown.timeoutType === TimeoutType.SCHEDULE_TO_START;
  // An earlier try may have had its effect, and a Nexus operation's state is not known here.
  if (isUntaken && work.kind === 'activity' && work.options.retry.maximumAttempts === 1) {
    return new ToolError('tool_timeout', `No worker took "${work.name}" in time.`, failed);
  }
  return toUnknown(work, failed);
}

function toUnknown({ name }: ToolWork, why: unknown): ToolError {
  return new ToolError('tool_outcome_unknown', `Whether "${name}" took effect is not known.`, why);
}

function toUnstarted({ name }: ToolWork, why: unknown): ToolError {
  return new ToolError('tool_execution_failed', `"${name}" could not be started.`, why);
}
