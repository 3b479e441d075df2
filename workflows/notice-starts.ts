import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ChildWorkflowCancellationType,
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { endWorkflowIdOf, rootOf, waitWorkflowIdOf } from '../protocol/ids.js';
import type { EndRef, WaitOver, WaitRef } from '../protocol/notices.js';
import type { CallRef, TerminalStatus } from '../protocol/run.js';
import { END_WORKFLOW_TYPE, SIGNALS, WAIT_WORKFLOW_TYPE } from '../protocol/temporal-names.js';
import type { RunState } from './run-state.js';

/** The notices of what one step waits for, beside it: nothing here delays the run. */
export interface WaitNotices {
  /** Starts them for a wait that begins, unless they are still under way. */
  begin: (calls: readonly CallRef[]) => void;
  /** Has them look at calls that wait as well by now. */
  grow: (calls: readonly CallRef[]) => void;
  /** Ends them, if they are under way. */
  end: (over: WaitOver) => void;
}

/** A run without receivers has no `notify`, and no further command. */
export function createWaitNotices(state: RunState, step: number): WaitNotices {
  const { sessionId, runId, agent, notify } = state.input;
  const kinds: readonly string[] = notify?.calls ?? [];
  const ref: WaitRef = { sessionId: rootOf(sessionId), runId, agent, step };
  let current: { workflowId: string; known: Set<CallRef>; ready: Promise<void> } | undefined;

  const mayAsk = ({ kind, isSuspended, asks }: CallRef): boolean =>
    isSuspended === true ? asks !== false : kinds.includes(kind);

  function takeId(): string {
    const nth = (state.waits.get(step) ?? 0) + 1;
    state.waits.set(step, nth);
    return waitWorkflowIdOf(runId, step, nth);
  }

  function open(calls: readonly CallRef[]): void {
    const workflowId = takeId();
    const ready = beside(state, () => start(WAIT_WORKFLOW_TYPE, workflowId, ref));
    current = { workflowId, known: new Set(calls), ready };
  }

  function grow(calls: readonly CallRef[]): void {
    const wait = current;
    const added = calls.filter((call) => mayAsk(call) && wait?.known.has(call) !== true);
    if (kinds.length === 0 || added.length === 0) return;
    if (wait === undefined) {
      open(calls);
      return;
    }
    for (const call of added) wait.known.add(call);
    const { ready } = wait;
    wait.ready = beside(state, async () => {
      await ready;
      try {
        await getExternalWorkflowHandle(wait.workflowId).signal(SIGNALS.waitGrown);
      } catch {
        // They have ended: nothing that they knew of was open any more.
        wait.workflowId = takeId();
        await start(WAIT_WORKFLOW_TYPE, wait.workflowId, ref);
      }
    });
  }

  function end(over: WaitOver): void {
    const wait = current;
    if (wait === undefined) return;
    current = undefined;
    void beside(state, async () => {
      await wait.ready;
      // It may have ended before: everything was settled when it looked.
      await getExternalWorkflowHandle(wait.workflowId)
        .signal(SIGNALS.waitOver, over)
        .catch(() => undefined);
    });
  }

  return {
    grow,
    end,
    begin: (calls) => {
      if (current !== undefined) {
        grow(calls);
        return;
      }
      if (kinds.length === 0 || calls.length === 0) return;
      // A tool that sleeps does not ask people now; what it asks later is looked at then.
      if (calls.some(mayAsk)) open(calls);
    },
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
