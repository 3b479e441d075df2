import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ChildWorkflowCancellationType,
  condition,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { endWorkflowIdOf, rootOf, waitWorkflowIdOf } from '../../protocol/ids.js';
import type { EndRef, WaitOver, WaitRef } from '../../protocol/notices.js';
import type { RunInput } from '../../protocol/run.js';
import { END_WORKFLOW_TYPE, SIGNALS, WAIT_WORKFLOW_TYPE } from '../../protocol/temporal-names.js';
import type { View } from '../../run/loop.js';
import type { Beside } from '../../workflows/run.js';

/**
 * Notices of what a run waits for, and of its end: started for a wait that begins, told of calls that wait as well by
 * now, and ended. A run without receivers has no `notify`, and no further command.
 */
export function createNotices({ sessionId, runId, agent, notify, parent }: RunInput): Beside {
  const kinds: readonly string[] = notify?.calls ?? [];
  /** Waits with notices, by step. */
  const waits = new Map<number, number>();
  let noticing = 0;
  let current: { step: number; id: string; known: Set<string>; ready: Promise<void> } | undefined;

  function takeId(step: number): string {
    const nth = (waits.get(step) ?? 0) + 1;
    waits.set(step, nth);
    return waitWorkflowIdOf(runId, step, nth);
  }

  function start(step: number, id: string): Promise<void> {
    const ref: WaitRef = { sessionId: rootOf(sessionId), runId, agent, step };
    return startNotices(WAIT_WORKFLOW_TYPE, id, ref);
  }

  async function beside(work: () => Promise<void>): Promise<void> {
    noticing += 1;
    // No notice is worth a run: what cannot be started or signalled is left out.
    await work().catch(() => undefined);
    noticing -= 1;
  }

  function grow(wait: NonNullable<typeof current>, added: readonly string[]): void {
    for (const id of added) wait.known.add(id);
    const { ready } = wait;
    wait.ready = beside(async () => {
      await ready;
      try {
        await getExternalWorkflowHandle(wait.id).signal(SIGNALS.waitGrown);
      } catch {
        // They have ended: nothing that they knew of was open any more.
        wait.id = takeId(wait.step);
        await start(wait.step, wait.id);
      }
    });
  }

  function end({ id, ready }: NonNullable<typeof current>, over: WaitOver): void {
    current = undefined;
    void beside(async () => {
      await ready;
      // It may have ended before: everything was settled when it looked.
      await getExternalWorkflowHandle(id)
        .signal(SIGNALS.waitOver, over)
        .catch(() => undefined);
    });
  }

  function show({ next, people }: View): void {
    if (kinds.length === 0) return;
    const asked = people.filter(({ kind }) => kinds.includes(kind));
    const ids = asked.map(({ toolCallId }) => toolCallId);
    const { step } = next;
    if (current !== undefined && (people.length === 0 || current.step !== step)) {
      const { machine = [] } = next.do === 'open' ? next : {};
      const approved = [...current.known].filter((id) => machine.includes(id));
      const stopped = next.do === 'done' && next.status !== 'completed';
      // Of a wait that was over long ago nothing is known.
      const how = stopped ? { stopped } : step <= current.step + 1 && { approved };
      end(current, { ...how, at: Date.now() });
    }
    if (ids.length === 0) return;
    const added = ids.filter((id) => current?.known.has(id) !== true);
    if (current !== undefined) {
      if (added.length > 0) grow(current, added);
      return;
    }
    const id = takeId(step);
    const ready = beside(() => start(step, id));
    current = { step, id, ready, known: new Set(people.map(({ toolCallId }) => toolCallId)) };
  }

  return {
    show,
    end: async (next) => {
      show({ next, working: [], people: [], asleep: [] });
      const { status, error } = next;
      // A sub-agent's end is its parent's matter.
      if (parent === undefined && status !== 'superseded' && notify?.ends.includes(status)) {
        const code = error && { code: error.code };
        const ref: EndRef = { sessionId, runId, agent, status, ...code };
        void beside(() => startNotices(END_WORKFLOW_TYPE, endWorkflowIdOf(runId), ref));
      }
      // What was begun is with Temporal before this execution ends.
      await condition(() => noticing === 0);
    },
  };
}

/** An execution that was reset may find it started; one that has ended is started again, and looks at the record. */
async function startNotices(
  type: string,
  workflowId: string,
  ref: WaitRef | EndRef,
): Promise<void> {
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
