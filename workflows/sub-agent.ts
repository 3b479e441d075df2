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
import { workflowIdOf } from '../protocol/ids.js';
import type { At, CallRef, ChildRef, RunInput } from '../protocol/run.js';
import { SIGNALS, WORKFLOW_TASK_TIMEOUT_MS, WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import { runRef, type Run } from './run.js';
import { labelsOf, startAttributes } from './operators-view.js';
import { bookkeeping } from './proxies.js';

/** A sub-agent that has not reported anything is checked after this long. */
const LOOK_AGAIN_MS = 15 * 60_000;

/** Carries out a call with a sub-agent's run: a child workflow. */
export async function runSubAgent(run: Run, step: number, call: CallRef): Promise<At> {
  const { child, toolCallId } = call;
  if (child === undefined) throw new Error(`the call ${toolCallId} has no sub-agent`);
  const settle = (ending: { lost?: true; started?: true }) =>
    bookkeeping.settleChild.executeWithOptions({ summary: `${call.toolName}: result` }, [
      { ...runRef(run), step, toolCallId, child, ...ending },
    ]);
  let ending: Promise<'ended' | 'lost' | 'started'> = carryOutChild(run, child, toolCallId);
  let againMs: number | undefined;
  let { looks } = run;
  for (;;) {
    const known = looks;
    const isAsked = (): boolean => run.looks > known;
    const looked = againMs === undefined ? condition(isAsked) : condition(isAsked, againMs);
    const end = await Promise.race([ending, looked.then(() => 'look')]);
    if (end === 'ended') return (await settle({})).at;
    if (end === 'lost') return (await settle({ lost: true })).at;
    if (end === 'started') {
      // An earlier execution of this workflow started it, before it was reset: it reports its end.
      ending = new Promise(() => undefined);
      againMs = LOOK_AGAIN_MS;
      await say(child.runId, SIGNALS.reportEnd);
    }
    // What is reported while the record is read is looked at again.
    ({ looks } = run);
    // A run that was reset is not told of an end that came before. The record has it.
    const { at, isAtWork } = await settle({ started: true });
    if (isAtWork !== true) return at;
  }
}

/** The record has ended it with its parent, which a sub-agent that waits for people does not notice. */
export function askToLook({ runId }: ChildRef): Promise<void> {
  return say(runId, SIGNALS.look);
}

/** Reports the end of this run to its parent, if the parent asked for it. */
export async function tellParent({ parent }: RunInput): Promise<void> {
  if (parent !== undefined) await say(parent.runId, SIGNALS.look);
}

/** A closed workflow cannot be signalled: the record has its outcome. */
function say(runId: string, signal: string): Promise<void> {
  return getExternalWorkflowHandle(workflowIdOf(runId))
    .signal(signal)
    .catch(() => undefined);
}

/**
 * `lost`: its workflow was ended from outside without an outcome, or never began. `started`: it had
 * already begun, and is not a child of this execution.
 */
async function carryOutChild(
  { input, traceparent }: Run,
  child: ChildRef,
  toolCallId: string,
): Promise<'ended' | 'lost' | 'started'> {
  try {
    const handle = await startChild(WORKFLOW_TYPE, {
      workflowId: workflowIdOf(child.runId),
      args: [{ ...toInput(input, child, toolCallId), traceparent }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      staticSummary: `${child.agent}: sub-agent of ${input.agent}`,
      staticDetails: `Session \`${child.sessionId}\`\n\nRun \`${child.runId}\``,
      ...(input.searchAttributes && {
        typedSearchAttributes: startAttributes(
          { ...child, turn: 1 },
          labelsOf(workflowInfo().typedSearchAttributes),
        ),
      }),
    });
    await handle.result();
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
