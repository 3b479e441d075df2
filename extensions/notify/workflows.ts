import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  defineSignal,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  proxyActivities,
  setHandler,
  setCurrentDetails,
  startChild,
  workflowInfo,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import { endWorkflowIdOf, rootOf, waitWorkflowIdOf } from '../../protocol/ids.js';
import type {
  Delivery,
  EndRef,
  NoticeActivities,
  WaitOver,
  WaitProgress,
  WaitRef,
} from '../../protocol/notices.js';
import type { RunInput } from '../../protocol/run.js';
import {
  END_WORKFLOW_TYPE,
  noticeQueueOf,
  SIGNALS,
  WAIT_WORKFLOW_TYPE,
} from '../../protocol/temporal.js';
import type { View } from '../../run/loop.js';
import type { RunExtension } from '../../workflows/run.js';

/** These activities only read and start workflows. They are retried without limit while Redis or Temporal is away. */
const looks = proxyActivities<Omit<NoticeActivities, 'sendNotice'>>({
  startToCloseTimeout: '30s',
  // The same intervals apply to looks at a call that people have not been asked about yet.
  retry: { initialInterval: '500ms', backoffCoefficient: 2, maximumInterval: '15s' },
});

const sends = proxyActivities<Pick<NoticeActivities, 'sendNotice'>>({
  heartbeatTimeout: '15s',
  startToCloseTimeout: '2m',
  // Each failure carries the time of the next attempt.
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '10h' },
});

const waitOver = defineSignal<[WaitOver?]>(SIGNALS.waitOver);
const waitGrown = defineSignal(SIGNALS.waitGrown);

/**
 * Sends the notices of one wait for people: the first notice, reminders, escalations and the outcome. Each
 * round reads the record, so the workflow also ends if the signal of the wait's end was lost.
 */
export async function notifyWaiting(ref: WaitRef): Promise<void> {
  let settled: WaitOver | undefined;
  setHandler(waitOver, (over) => {
    settled = over ?? {};
  });
  let grown = 0;
  setHandler(waitGrown, () => {
    grown += 1;
  });
  let progress: WaitProgress | undefined;
  for (;;) {
    const over = settled;
    const seen = grown;
    const look = { ...ref, ...(progress && { progress }), ...(over && { over }) };
    const outlook = await looks.announceWait.executeWithOptions(noticeQueue(), [look]);
    const hasGrown = (): boolean => grown > seen;
    if (over !== undefined || (outlook == null && !hasGrown())) return;
    progress = outlook?.progress;
    if (outlook == null || hasGrown()) continue;
    await condition(() => settled !== undefined || hasGrown(), outlook.againMs);
  }
}

/** Sends the notice of one run's end. */
export async function notifyEnd(ref: EndRef): Promise<void> {
  await looks.announceEnd.executeWithOptions(noticeQueue(), [ref]);
}

function noticeQueue(): { taskQueue: string } {
  return { taskQueue: noticeQueueOf(workflowInfo().taskQueue) };
}

/**
 * Delivers one notice to one receiver, with retries. A delivery that fails for good fails its workflow, so
 * the failed workflows are the dead letters.
 */
export async function deliver(delivery: Delivery): Promise<void> {
  const { notice, receiver, retryForMs } = delivery;
  setCurrentDetails(`**${notice.type}** to ${receiver}`);
  try {
    await sends.sendNotice.executeWithOptions(
      { ...noticeQueue(), scheduleToCloseTimeout: retryForMs, summary: receiver },
      [delivery],
    );
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    const why = cause instanceof ApplicationFailure ? cause : undefined;
    const code = why?.type ?? 'not_delivered';
    // Other receivers are notified of a failed delivery, but not of a failure of that notice.
    if (notice.type !== 'delivery.failed' && notice.type !== 'test') {
      // Announced before the workflow fails, so that a listed failure has been announced.
      await looks.announceFailure
        .executeWithOptions({ ...noticeQueue(), scheduleToCloseTimeout: '10m' }, [
          { notice, receiver, code },
        ])
        .catch(() => undefined);
    }
    const { message = 'It was not taken in time.', details } = why ?? {};
    throw ApplicationFailure.nonRetryable(message, code, ...(details ?? []));
  }
}

/** Commands to Temporal of a run's workflow; each resolves once it is accepted. */
interface NoticeCommands {
  start: (type: string, workflowId: string, ref: WaitRef | EndRef) => Promise<void>;
  /** Rejects if the workflow has ended. */
  signal: (workflowId: string, name: string, over?: WaitOver) => Promise<void>;
}

const COMMANDS: NoticeCommands = {
  start: startNotices,
  signal: (workflowId, name, ...args) =>
    getExternalWorkflowHandle(workflowId).signal(name, ...args),
};

/** A wait of the run for people, with the workflow of its notices. */
interface Wait {
  step: number;
  /** Id of the notice workflow. */
  id: string;
  known: Set<string>;
  /** Resolves once Temporal has accepted the newest start or signal. */
  ready: Promise<void>;
}

/**
 * Starts and ends the notice workflows of a run: one for each wait for people, and one for the run's end. Without
 * receivers `notify` is absent and the run's workflow issues no extra command.
 */
export function createNotices(
  { sessionId, runId, agent, notify, parent }: RunInput,
  commands = COMMANDS,
): RunExtension {
  const kinds: readonly string[] = notify?.calls ?? [];
  /** Number of waits with notices, by step. */
  const waits = new Map<number, number>();
  let noticing = 0;
  let current: Wait | undefined;

  async function beside(work: () => Promise<void>): Promise<void> {
    noticing += 1;
    // A run must not fail because of a notice, whose workflow may run already.
    await work().catch(() => undefined);
    noticing -= 1;
  }

  function start(wait: Wait): Promise<void> {
    const { step } = wait;
    const nth = (waits.get(step) ?? 0) + 1;
    waits.set(step, nth);
    wait.id = waitWorkflowIdOf(runId, step, nth);
    const ref: WaitRef = { sessionId: rootOf(sessionId), runId, agent, step };
    return commands.start(WAIT_WORKFLOW_TYPE, wait.id, ref);
  }

  function grow(wait: Wait, added: readonly string[]): void {
    for (const id of added) wait.known.add(id);
    const { ready } = wait;
    wait.ready = beside(async () => {
      await ready;
      try {
        await commands.signal(wait.id, SIGNALS.waitGrown);
      } catch {
        // The notice workflow has ended, since all calls that it knew were settled.
        await start(wait);
      }
    });
  }

  function end(wait: Wait, over: WaitOver): void {
    current = undefined;
    void beside(async () => {
      await wait.ready;
      // The notice workflow may have ended already, if it found all calls settled.
      await commands.signal(wait.id, SIGNALS.waitOver, over).catch(() => undefined);
    });
  }

  function show({ next, people }: View): void {
    const { step } = next;
    if (current !== undefined && (people.length === 0 || current.step !== step)) {
      const { machine = [] } = next.do === 'open' ? next : {};
      const approved = [...current.known].filter((id) => machine.includes(id));
      const stopped = next.do === 'done' && next.status !== 'completed';
      // If the wait ended several steps ago, the run does not know how.
      const how = stopped ? { stopped } : step <= current.step + 1 && { approved };
      end(current, { ...how, at: Date.now() });
    }
    const asked = people.filter(({ kind }) => kinds.includes(kind));
    if (asked.length === 0) return;
    if (current === undefined) {
      const known = new Set(people.map(({ toolCallId }) => toolCallId));
      const wait: Wait = { step, id: '', known, ready: Promise.resolve() };
      wait.ready = beside(() => start(wait));
      current = wait;
      return;
    }
    const { known } = current;
    const added = asked.flatMap(({ toolCallId }) => (known.has(toolCallId) ? [] : toolCallId));
    if (added.length > 0) grow(current, added);
  }

  return {
    show,
    end: async (next) => {
      show({ next, working: [], people: [], asleep: [] });
      const { status, error } = next;
      // A sub-agent's end concerns only its parent.
      if (parent === undefined && status !== 'superseded' && notify?.ends.includes(status)) {
        const code = error && { code: error.code };
        const ref: EndRef = { sessionId, runId, agent, status, ...code };
        void beside(() => commands.start(END_WORKFLOW_TYPE, endWorkflowIdOf(runId), ref));
      }
      // Temporal must have accepted all starts and signals before this execution ends.
      await condition(() => noticing === 0);
    },
  };
}

/** Rejects if the notice workflow already runs, after a reset. An ended one is started again and reads the record. */
async function startNotices(
  type: string,
  workflowId: string,
  ref: WaitRef | EndRef,
): Promise<void> {
  await startChild(type, {
    workflowId,
    args: [ref],
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.ABANDON,
  });
}
