import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  patched,
  startChild,
  workflowInfo,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { ToolCallOutcome } from '../protocol/activities.js';
import { workflowIdOf } from '../protocol/ids.js';
import type { CallRef, ChildRef, RunInput } from '../protocol/run.js';
import { SIGNALS, WORKFLOW_TASK_TIMEOUT_MS, WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import { learn } from './carry.js';
import { startAttributes } from './operators-view.js';
import { PATCHES } from './patches.js';
import { bookkeeping } from './proxies.js';
import { runRef, type RunState } from './run-state.js';

/** A sub-agent of which nothing is heard is looked up after this long. */
const LOOK_AGAIN_MS = 15 * 60_000;

/** Carries out a call by a sub-agent's run: a child workflow, stopped when this run is. */
export async function runSubAgent(state: RunState, step: number, call: CallRef): Promise<void> {
  const { child, toolCallId } = call;
  if (child === undefined) return;
  const settle = async (how: { lost?: true; started?: true }): Promise<ToolCallOutcome> => {
    const outcome = await bookkeeping().settleChild.executeWithOptions(
      { summary: `${call.toolName}: result` },
      [{ ...runRef(state), step, toolCallId, child, ...how }],
    );
    state.carry = learn(state.carry, outcome.sequence);
    return outcome;
  };
  const end = await carryOutChild(state, child, toolCallId);
  if (end === 'started') await untilOver(state, child, toolCallId, () => settle({ started: true }));
  else await settle(end === 'lost' ? { lost: true } : {});
}

/**
 * Waits for a run that an execution of this workflow started before it was reset: it is at work, and
 * says when it has ended. What it says is looked up, and so it is now and then without a word.
 */
async function untilOver(
  state: RunState,
  child: ChildRef,
  toolCallId: string,
  look: () => Promise<ToolCallOutcome>,
): Promise<void> {
  const handle = getExternalWorkflowHandle(workflowIdOf(child.runId));
  // One that has closed hears nothing: the record says how it ended.
  const say = (signal: string, ...args: unknown[]): Promise<void> =>
    handle.signal(signal, ...args).catch(() => undefined);
  await say(SIGNALS.reportEnd);
  let isStopped = false;
  for (;;) {
    // Before the look, which may take its time: what the child says meanwhile counts.
    state.endedChildren.delete(toolCallId);
    if ((await look()).kind !== 'at_work') return;
    await condition(
      () => state.endedChildren.has(toolCallId) || (state.carry.stopRequested && !isStopped),
      LOOK_AGAIN_MS,
    );
    if (state.carry.stopRequested && !isStopped) {
      isStopped = true;
      await say(SIGNALS.stop, { recorded: true });
    }
  }
}

/** A run that was asked to says that it has ended. */
export async function tellParent({ parent }: RunInput): Promise<void> {
  if (parent === undefined) return;
  const { runId, toolCallId } = parent;
  await getExternalWorkflowHandle(workflowIdOf(runId))
    .signal(SIGNALS.childEnded, { toolCallId })
    .catch(() => undefined);
}

/**
 * `lost`: its workflow ended without saying how, from outside, or never began. `started`: it had begun
 * before, and is no child of this execution.
 */
async function carryOutChild(
  state: RunState,
  child: ChildRef,
  toolCallId: string,
): Promise<'ended' | 'lost' | 'started'> {
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
        typedSearchAttributes: startAttributes(
          child.sessionId,
          child.agent,
          1,
          workflowInfo().typedSearchAttributes,
        ),
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
    return 'ended';
  } catch (error) {
    const wasStarted = error instanceof WorkflowExecutionAlreadyStartedError;
    if (wasStarted && patched(PATCHES.childIsAtWork)) return 'started';
    // A run that failed fails its workflow with a code, and its record says the rest.
    const hasFailed =
      error instanceof ChildWorkflowFailure && error.cause instanceof ApplicationFailure;
    return hasFailed ? 'ended' : 'lost';
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
    ...(parent.model !== undefined && { model: parent.model }),
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
