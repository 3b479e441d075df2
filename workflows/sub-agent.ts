import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  workflowInfo,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { ToolCallOutcome } from '../protocol/activities.js';
import { workflowIdOf } from '../protocol/ids.js';
import type { CallRef, ChildRef, RunInput } from '../protocol/run.js';
import { SIGNALS, WORKFLOW_TASK_TIMEOUT_MS, WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import { learn } from '../protocol/carry.js';
import { labelsOf, startAttributes } from './operators-view.js';
import { bookkeeping } from './proxies.js';
import { runRef, type RunState } from './run-state.js';

/** A sub-agent that has not reported anything is checked after this long. */
const LOOK_AGAIN_MS = 15 * 60_000;

/**
 * Carries out a call with a sub-agent's run: a child workflow, which is stopped when this run is.
 */
export async function runSubAgent(state: RunState, step: number, call: CallRef): Promise<void> {
  const { child, toolCallId } = call;
  if (child === undefined) return;
  const settle = async (ending: { lost?: true; started?: true }): Promise<ToolCallOutcome> => {
    const outcome = await bookkeeping.settleChild.executeWithOptions(
      { summary: `${call.toolName}: result` },
      [{ ...runRef(state), step, toolCallId, child, ...ending }],
    );
    state.carry = learn(state.carry, outcome.sequence);
    return outcome;
  };
  const end = await carryOutChild(state, child, toolCallId);
  if (end === 'started') await untilOver(state, child, toolCallId, () => settle({ started: true }));
  else await settle(end === 'lost' ? { lost: true } : {});
}

/**
 * Waits for a run that an earlier execution of this workflow started before it was reset. That run
 * reports its end; the report is verified in the record, which is also checked from time to time
 * without a report.
 */
async function untilOver(
  state: RunState,
  child: ChildRef,
  toolCallId: string,
  look: () => Promise<ToolCallOutcome>,
): Promise<void> {
  const handle = getExternalWorkflowHandle(workflowIdOf(child.runId));
  // A closed workflow cannot be signalled: the record has its outcome.
  const say = (signal: string, ...args: unknown[]): Promise<void> =>
    handle.signal(signal, ...args).catch(() => undefined);
  await say(SIGNALS.reportEnd);
  let isStopped = false;
  for (;;) {
    // Cleared before the check, which may take a while: a report that arrives meanwhile counts.
    state.endedChildren.delete(toolCallId);
    const { looks } = state;
    if ((await look()).kind !== 'at_work') return;
    await condition(
      () =>
        state.endedChildren.has(toolCallId) ||
        state.looks > looks ||
        (state.carry.stopRequested && !isStopped),
      LOOK_AGAIN_MS,
    );
    if (state.carry.stopRequested && !isStopped) {
      isStopped = true;
      await say(SIGNALS.stop, { recorded: true });
    }
  }
}

/** Reports the end of this run to its parent, if the parent asked for it. */
export async function tellParent({ parent }: RunInput): Promise<void> {
  if (parent === undefined) return;
  const { runId, toolCallId } = parent;
  await getExternalWorkflowHandle(workflowIdOf(runId))
    .signal(SIGNALS.childEnded, { toolCallId })
    .catch(() => undefined);
}

/**
 * `lost`: its workflow was ended from outside without an outcome, or never began. `started`: it had
 * already begun, and is not a child of this execution.
 */
async function carryOutChild(
  state: RunState,
  child: ChildRef,
  toolCallId: string,
): Promise<'ended' | 'lost' | 'started'> {
  try {
    const handle = await startChild(WORKFLOW_TYPE, {
      workflowId: workflowIdOf(child.runId),
      args: [{ ...toInput(state.input, child, toolCallId), traceparent: state.traceparent }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      staticSummary: `${child.agent}: sub-agent of ${state.input.agent}`,
      staticDetails: `Session \`${child.sessionId}\`\n\nRun \`${child.runId}\``,
      ...(state.input.searchAttributes && {
        typedSearchAttributes: startAttributes(
          { ...child, turn: 1 },
          labelsOf(workflowInfo().typedSearchAttributes),
        ),
      }),
    });
    let isOver = false;
    const stopped = condition(() => state.carry.stopRequested || isOver);
    // Redis has the stop record; a child that waits for a person must be notified.
    void stopped
      .then(() => (isOver ? undefined : handle.signal(SIGNALS.stop, { recorded: true })))
      .catch(() => undefined);
    try {
      await handle.result();
    } finally {
      isOver = true;
    }
    return 'ended';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'started';
    // A failed run fails its workflow with a code, and its record has the details.
    const hasFailed =
      error instanceof ChildWorkflowFailure && error.cause instanceof ApplicationFailure;
    return hasFailed ? 'ended' : 'lost';
  }
}

function toInput(parent: RunInput, child: ChildRef, toolCallId: string): RunInput {
  const { sessionId, runId, agent, maxSteps, hasOutput, activities } = child;
  return {
    sessionId,
    runId,
    agent,
    turn: 1,
    maxSteps,
    searchAttributes: parent.searchAttributes,
    model: parent.model,
    sessionUrl: parent.sessionUrl,
    traceUrl: parent.traceUrl,
    sealsFailures: parent.sealsFailures,
    hasOutput,
    activities,
    hasLeases: parent.hasLeases,
    notify: parent.notify,
    parent: {
      sessionId: parent.sessionId,
      runId: parent.runId,
      toolCallId,
      depth: (parent.parent?.depth ?? 0) + 1,
    },
  };
}
