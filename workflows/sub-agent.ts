import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  workflowInfo,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { workflowIdOf } from '../protocol/ids.js';
import { toChildInput, type At, type CallRef, type ChildRef } from '../protocol/run.js';
import { SIGNALS, WORKFLOW_TYPE } from '../protocol/temporal.js';
import { runRef, type Run } from './run.js';
import { labelsOf, startAttributes } from './operators-view.js';
import { bookkeeping } from './proxies.js';

/** The parent checks a sub-agent that has reported nothing for this long. */
const LOOK_AGAIN_MS = 15 * 60_000;

/** Carries out a call by running a sub-agent as a child workflow. */
export async function runSubAgent(run: Run, step: number, call: CallRef): Promise<At> {
  const { child, toolCallId } = call;
  if (child === undefined) throw new Error(`the call ${toolCallId} has no sub-agent`);
  const settle = (ending: { started?: true }) =>
    bookkeeping.settleChild.executeWithOptions({ summary: `${call.toolName}: result` }, [
      { ...runRef(run), step, toolCallId, child, ...ending },
    ]);
  let ending: Promise<'ended' | 'started'> = executeChild(run, child, toolCallId);
  let againMs: number | undefined;
  let { looks } = run;
  for (;;) {
    const known = looks;
    const isAsked = (): boolean => run.looks > known;
    const looked = againMs === undefined ? condition(isAsked) : condition(isAsked, againMs);
    const end = await Promise.race([ending, looked.then(() => 'look')]);
    if (end === 'ended') return (await settle({})).at;
    if (end === 'started') {
      // An earlier execution of this workflow started the sub-agent before a reset. Ask it to report its end.
      ending = new Promise(() => undefined);
      againMs = LOOK_AGAIN_MS;
      await say(child.runId, SIGNALS.reportEnd);
    }
    // A report that arrives while the record is being read leads to another look.
    ({ looks } = run);
    // The sub-agent may have ended before the reset and reports nothing then; the record says so.
    const { at, isAtWork } = await settle({ started: true });
    if (isAtWork !== true) return at;
  }
}

/** Wakes sub-agents whose records ended with this one's, before the execution ends: Temporal sends no signals after. */
export async function wakeChildren(run: Run, calls: readonly CallRef[]): Promise<void> {
  run.recording += 1;
  const children = calls.flatMap(({ child }) => child ?? []);
  await Promise.all(children.map(({ runId }) => say(runId, SIGNALS.look)));
  run.recording -= 1;
}

/** Reports the end of this run to its parent, if the parent asked for it. */
export async function notifyParent({ input: { parent }, reportsEnd }: Run): Promise<void> {
  if (reportsEnd && parent !== undefined) await say(parent.runId, SIGNALS.look);
}

/** Sends even after a cancel. Ignores failures: a closed workflow takes no signals, and the record has its outcome. */
function say(runId: string, signal: string): Promise<void> {
  const run = getExternalWorkflowHandle(workflowIdOf(runId));
  return CancellationScope.nonCancellable(() => run.signal(signal)).catch(() => undefined);
}

/**
 * Returns `started` if the child's workflow already runs but is not a child of this execution. The
 * record has the outcome of a run that has ended; a run without one was lost.
 */
async function executeChild(
  { input, traceparent }: Run,
  child: ChildRef,
  toolCallId: string,
): Promise<'ended' | 'started'> {
  try {
    const handle = await startChild(WORKFLOW_TYPE, {
      workflowId: workflowIdOf(child.runId),
      args: [{ ...toChildInput(input, child, toolCallId), traceparent }],
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      workflowTaskTimeout: workflowInfo().taskTimeoutMs,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
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
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'started';
  }
  return 'ended';
}
