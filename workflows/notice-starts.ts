import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ChildWorkflowCancellationType,
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  patched,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { endWorkflowIdOf, rootOf, waitWorkflowIdOf } from '../protocol/ids.js';
import type { EndRef, WaitOver, WaitRef } from '../protocol/notices.js';
import type { CallRef, TerminalStatus } from '../protocol/run.js';
import { END_WORKFLOW_TYPE, SIGNALS, WAIT_WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import { PATCHES } from './patches.js';
import type { RunState } from './run-state.js';

/**
 * Starts the notices of a wait, beside it: nothing here delays the run. Runs that began without
 * receivers have no `notify`, and no further command.
 *
 * @returns to be called with how the wait was over
 */
export function noticeWait(
  state: RunState,
  step: number,
  people: readonly CallRef[],
): (over: WaitOver) => void {
  const { sessionId, runId, agent, notify } = state.input;
  if (notify === undefined || notify.calls.length === 0) return () => undefined;
  const isAsked = people.some(({ kind }) => notify.calls.some((wanted) => wanted === kind));
  // What a tool waits for, now or while others are asked, is in the record only.
  const mayBeAsked = people.length > 0 && (isAsked || patched(PATCHES.toolsAskToo));
  if (!mayBeAsked) return () => undefined;
  const before = state.waits.get(step) ?? 0;
  state.waits.set(step, before + 1);
  const isNumbered = before > 0 && patched(PATCHES.waitsAreNumbered);
  const workflowId = waitWorkflowIdOf(runId, step, isNumbered ? before + 1 : 1);
  const ref: WaitRef = { sessionId: rootOf(sessionId), runId, agent, step };
  const started = beside(state, () => start(WAIT_WORKFLOW_TYPE, workflowId, ref));
  return (over) => {
    void beside(state, async () => {
      await started;
      // It may have ended before: everything was settled when it looked.
      await getExternalWorkflowHandle(workflowId)
        .signal(SIGNALS.waitOver, over)
        .catch(() => undefined);
    });
  };
}

/** Starts the notice of the run's end; a sub-agent's end is its parent's matter. */
export async function noticeEnd(
  state: RunState,
  status: TerminalStatus | 'superseded',
  code: string | undefined,
): Promise<void> {
  const { sessionId, runId, agent, notify, parent } = state.input;
  if (notify === undefined) return;
  if (parent === undefined && status !== 'superseded' && notify.ends.includes(status)) {
    const ref: EndRef = { sessionId, runId, agent, status, ...(code !== undefined && { code }) };
    void beside(state, () => start(END_WORKFLOW_TYPE, endWorkflowIdOf(runId), ref));
  }
  // What was begun is with Temporal before this execution ends.
  await condition(() => state.noticing === 0);
}

async function beside(state: RunState, work: () => Promise<void>): Promise<void> {
  state.noticing += 1;
  // No notice is worth a run: what cannot be started or signalled is left out.
  await work().catch(() => undefined);
  state.noticing -= 1;
}

/** An execution that was reset may find it started; one that has ended is started again, and looks at the record. */
async function start(type: string, workflowId: string, ref: WaitRef | EndRef): Promise<void> {
  try {
    await startChild(type, {
      workflowId,
      args: [ref],
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
