import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ActivityCancellationType,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowFailure,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  sleep,
  startChild,
  uuid4,
  workflowInfo,
  WorkflowIdReusePolicy,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import {
  type CalledRun,
  type CalledRunActivities,
  type CalledRunOptions,
  type CalledRunRequest,
  type CalledRunResult,
  fairnessKeyOf,
  WORKFLOW_TYPE,
} from '../../protocol/temporal.js';
import { toShownSessionId, workflowIdOf } from '../../protocol/ids.js';
import type { RunInput, RunSummary } from '../../protocol/run.js';
import { TIMES } from '../../protocol/limits.js';
import { startAttributes } from '../../workflows/operators-view.js';

/** Polling intervals for a run whose workflow is not a child or was ended from outside. */
const LOOKS = { firstMs: 500, factor: 2, mostMs: 10 * 60_000 };

/** Options of an agent run that a workflow starts. */
export interface RunAgentOptions extends CalledRunOptions {
  /** Task queue of the workers that serve the agent. Default: the task queue of the calling workflow. */
  taskQueue?: string;
  /**
   * Fate of the run if the calling workflow ends first: `REQUEST_CANCEL` (default) stops it,
   * `ABANDON` lets it go on.
   */
  parentClosePolicy?: 'REQUEST_CANCEL' | 'ABANDON';
}

/** A run that a workflow has started. */
export interface CalledAgentRun<Output = unknown> {
  /** The conversation's id as its owner knows it, without the tenant's prefix. */
  readonly sessionId: string;
  readonly runId: string;
  /**
   * Resolves when the run has ended, which takes as long as people need to answer its questions. If the
   * awaiting scope is cancelled, the run is stopped first, then the cancellation is thrown.
   */
  result: () => Promise<CalledRunResult<Output>>;
  /** Stops the run; `interrupt` (default) can be resumed. Harmless when it has ended. */
  stop: (how?: { mode?: 'interrupt' | 'abort'; reason?: string }) => Promise<void>;
}

/**
 * Runs an agent from your workflow and waits for its end. The run is a child workflow with the id
 * `run:<runId>` and a conversation like any other: people can read and answer it meanwhile.
 *
 * @example
 * import { runAgent } from 'helix-temporal/workflows';
 *
 * export async function review(document: string): Promise<string> {
 *   const { status, text } = await runAgent('reviewer', `Review ${document}`, { userId: 'ann' });
 *   return status === 'completed' ? text : 'no review';
 * }
 *
 * @throws ActivityFailure, with an ApplicationFailure of the refusal's code as cause:
 * `agent_already_running`, `agent_not_found`, `agent_mismatch`, `quota_exceeded`, `budget_exceeded`,
 * `not_found` for a conversation of another owner or one that was erased, `validation_error`,
 * `message_too_large`, `message_conflict`; CancelledFailure. A run that fails is a result, not an error.
 */
export async function runAgent<Output = unknown>(
  agent: string,
  message: string,
  options: RunAgentOptions = {},
): Promise<CalledRunResult<Output>> {
  const run = await startAgent<Output>(agent, message, options);
  return run.result();
}

/**
 * Starts an agent like `runAgent`, without waiting for its end.
 *
 * @example
 * import { condition, defineSignal, setHandler } from '@temporalio/workflow';
 * import { startAgent } from 'helix-temporal/workflows';
 *
 * export async function watched(question: string): Promise<string> {
 *   const run = await startAgent('guide', question);
 *   setHandler(defineSignal('enough'), () => run.stop({ reason: 'enough' }));
 *   return (await run.result()).text;
 * }
 */
export async function startAgent<Output = unknown>(
  agent: string,
  message: string,
  options: RunAgentOptions = {},
): Promise<CalledAgentRun<Output>> {
  const { taskQueue = workflowInfo().taskQueue, parentClosePolicy, ...wanted } = options;
  const activities = activitiesOn(taskQueue);
  const request: CalledRunRequest = {
    ...wanted,
    agent,
    message,
    // `uuid4` is deterministic: each replay and each attempt of the activity gets the same ids.
    sessionId: options.sessionId ?? `wf-${uuid4()}`,
    messageId: options.messageId ?? `wf-${uuid4()}`,
  };
  const run = await begin(activities, request);
  const { sessionId, runId } = run;
  // On cancel an activity records a stop, so Temporal must not cancel the child.
  const child = await CancellationScope.nonCancellable(() =>
    startRun(run, { taskQueue, parentClosePolicy }),
  );
  const stop: CalledAgentRun['stop'] = ({ mode, reason } = {}) =>
    activities.stopAgentRun.executeWithOptions({ summary: reason ?? 'stop' }, [
      { sessionId, runId, ...(mode && { mode }), ...(reason !== undefined && { reason }) },
    ]);
  return {
    sessionId: toShownSessionId(sessionId),
    runId,
    stop,
    result: () =>
      orStopped(
        () =>
          untilOver(activities, { ...run, withoutReply: wanted.withoutReply }, child) as Promise<
            CalledRunResult<Output>
          >,
        () => stop({ reason: 'the workflow that called it was cancelled' }),
      ),
  };
}

type Activities = ReturnType<typeof activitiesOn>;

/** These activities take milliseconds, so silence means a dead worker. Refusals are not retried. */
function activitiesOn(taskQueue: string) {
  return proxyActivities<CalledRunActivities>({
    taskQueue,
    startToCloseTimeout: '10s',
    // The attempt that is being cancelled may have begun a run, so its outcome counts.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
  });
}

async function begin(activities: Activities, request: CalledRunRequest): Promise<CalledRun> {
  try {
    return await activities.beginAgentRun.executeWithOptions({ summary: request.agent }, [request]);
  } catch (error) {
    // Temporal retries no activity after a cancel, and the failed attempt may have begun the run.
    if (!CancellationScope.current().consideredCancelled) throw error;
    const { sessionId, userId, tenantId, messageId } = request;
    const ref = { sessionId, messageId, ...(userId && { userId }), ...(tenantId && { tenantId }) };
    await CancellationScope.nonCancellable(() =>
      activities.stopAgentRun({ ...ref, reason: 'cancelled' }),
    );
    throw isCancellation(error) ? error : new CancelledFailure('The run was stopped.');
  }
}

type AgentRun = (input: RunInput) => Promise<RunSummary>;
type Child = ChildWorkflowHandle<AgentRun>;

/**
 * Returns undefined if the run is not this workflow's child: the sweeper started it first, or this
 * workflow was reset.
 */
async function startRun(
  { sessionId, runId, start }: CalledRun,
  { taskQueue, parentClosePolicy = 'REQUEST_CANCEL' }: RunAgentOptions,
): Promise<Child | undefined> {
  if (start === undefined) return undefined;
  const { input, details, tenant } = start;
  try {
    return await startChild<AgentRun>(WORKFLOW_TYPE, {
      workflowId: workflowIdOf(runId),
      taskQueue,
      args: [input],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowTaskTimeout: TIMES.workflowTaskMs,
      parentClosePolicy: ParentClosePolicy[parentClosePolicy],
      staticSummary: `${input.agent}: turn ${String(input.turn)} of ${sessionId}`,
      staticDetails: details,
      priority: { fairnessKey: fairnessKeyOf(tenant) },
      ...(input.searchAttributes && {
        typedSearchAttributes: startAttributes(input, { tenant, model: input.model }),
      }),
    });
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
    throw error;
  }
}

/** The child's end only wakes this workflow; the outcome comes from the record. */
async function untilOver(
  activities: Activities,
  { sessionId, runId, withoutReply }: CalledRun & Pick<RunAgentOptions, 'withoutReply'>,
  child: Child | undefined,
): Promise<CalledRunResult> {
  try {
    await child?.result();
  } catch (error) {
    if (!(error instanceof ChildWorkflowFailure)) throw error;
  }
  for (let waitMs = LOOKS.firstMs; ; waitMs = Math.min(waitMs * LOOKS.factor, LOOKS.mostMs)) {
    const look = await activities.lookAtAgentRun({
      sessionId,
      runId,
      ...(withoutReply !== undefined && { withoutReply }),
    });
    if (look.kind === 'ended') return look.result;
    await sleep(waitMs, { summary: `until ${runId} has ended` });
  }
}

/** Completes the work even if the scope is cancelled; a cancel stops the run first. */
async function orStopped<T>(work: () => Promise<T>, stop: () => Promise<void>): Promise<T> {
  const scope = CancellationScope.current();
  let isOver = false;
  let stopping: Promise<void> | undefined;
  scope.cancelRequested.catch(() => {
    // `cancelRequested` also rejects in a scope that is shielded from the cancel.
    if (isOver || !scope.consideredCancelled) return;
    stopping = CancellationScope.nonCancellable(stop);
    // Awaited below; this only prevents an unhandled rejection.
    stopping.catch(() => undefined);
  });
  try {
    const result = await CancellationScope.nonCancellable(work);
    await stopping;
    if (scope.consideredCancelled) throw new CancelledFailure('The run was stopped.');
    return result;
  } finally {
    isOver = true;
  }
}
