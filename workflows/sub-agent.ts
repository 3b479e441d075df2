import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  condition,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { workflowIdOf } from '../protocol/ids.js';
import type { CallRef, ChildRef, RunInput } from '../protocol/run.js';
import { SIGNALS, WORKFLOW_TASK_TIMEOUT_MS, WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import { learn } from './carry.js';
import { startAttributes } from './operators-view.js';
import { children } from './proxies.js';
import { runRef, type RunState } from './run-state.js';

/** Carries out a call by a sub-agent's run: a child workflow, stopped when this run is. */
export async function runSubAgent(state: RunState, step: number, call: CallRef): Promise<void> {
  const { child, toolCallId } = call;
  if (child === undefined) return;
  const lost = await isLost(state, child, toolCallId);
  const { sequence } = await children.settleChild.executeWithOptions(
    { summary: `${call.toolName}: result` },
    [{ ...runRef(state), step, toolCallId, child, ...(lost && { lost }) }],
  );
  state.carry = learn(state.carry, sequence);
}

/** True if the sub-agent's workflow ended without saying how: ended from outside, or never begun. */
async function isLost(state: RunState, child: ChildRef, toolCallId: string): Promise<boolean> {
  try {
    const handle = await startChild(WORKFLOW_TYPE, {
      workflowId: workflowIdOf(child.runId),
      args: [toInput(state.input, child, toolCallId)],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      staticSummary: `${child.agent}: sub-agent of ${state.input.agent}`,
      staticDetails: `Session \`${child.sessionId}\`\n\nRun \`${child.runId}\``,
      ...(state.input.searchAttributes && {
        typedSearchAttributes: startAttributes(child.sessionId, child.agent, 1),
      }),
    });
    let isOver = false;
    const stopped = condition(() => state.carry.stopRequested || isOver);
    // Redis knows of the stop; a child that waits for a person has to be told.
    void stopped
      .then(() => (isOver ? undefined : handle.signal(SIGNALS.stop, { recorded: true })))
      .catch(() => undefined);
    try {
      await handle.result();
    } finally {
      isOver = true;
    }
    return false;
  } catch (error) {
    // A run that failed fails its workflow with a code, and its record says the rest.
    return !(error instanceof ChildWorkflowFailure && error.cause instanceof ApplicationFailure);
  }
}

function toInput(parent: RunInput, child: ChildRef, toolCallId: string): RunInput {
  const { sessionId, runId, agent, maxSteps, hasOutput } = child;
  return {
    sessionId,
    runId,
    agent,
    turn: 1,
    maxSteps,
    searchAttributes: parent.searchAttributes,
    ...(parent.sessionUrl !== undefined && { sessionUrl: parent.sessionUrl }),
    ...(hasOutput !== undefined && { hasOutput }),
    parent: {
      sessionId: parent.sessionId,
      runId: parent.runId,
      toolCallId,
      depth: (parent.parent?.depth ?? 0) + 1,
    },
  };
}
