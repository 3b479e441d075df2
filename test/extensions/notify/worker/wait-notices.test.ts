import type { WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { createNotices } from '../../../../extensions/notify/workflows.js';
import { endWorkflowIdOf, waitWorkflowIdOf } from '../../../../protocol/ids.js';
import type { WaitLook, WaitOutlook, WaitProgress } from '../../../../protocol/notices.js';
import type { CallRef, RunInput, RunNotices } from '../../../../protocol/run.js';
import { noticeQueueOf, SIGNALS, WAIT_WORKFLOW_TYPE } from '../../../../protocol/temporal.js';
import type { HistoryEvent } from '../../../support/history-of.js';
import {
  bundlePath,
  createRunHarness,
  sharedTemporalAddress,
} from '../../../support/run-harness.js';
import { createTestAgent } from '../../../support/test-agent.js';
import { openTestStores } from '../../../support/test-stores.js';
import { until } from '../../../support/until.js';

it('the end of a wait is told to the notice workflow that was started again for a call', async () => {
  const input: RunInput = {
    sessionId: 's',
    runId: 's:1-a',
    agent: 'lab',
    turn: 1,
    maxSteps: 1,
    searchAttributes: false,
    notify: { calls: ['approval'], ends: [] },
  };
  const sent: string[] = [];
  let accept = (): void => undefined;
  const run = createNotices(input, {
    start: async (_type, id) => {
      sent.push(`start ${id}`);
      await new Promise<void>((resolve) => (accept = resolve));
      sent.push(`started ${id}`);
    },
    signal: async (id, name) => {
      if (name === SIGNALS.waitGrown) throw new Error('It has ended.');
      sent.push(`${name} ${id}`);
    },
  });
  const waitFor = (...ids: string[]): void => {
    const people = ids.map((toolCallId) => ({ toolCallId, kind: 'approval' }) as CallRef);
    run.show({ next: { do: 'open', step: 1, people: ids }, working: [], people, asleep: [] });
  };
  waitFor('c1');
  waitFor('c1', 'c2');
  await new Promise(setImmediate);
  accept();
  waitFor();
  await new Promise(setImmediate);
  accept();
  await new Promise(setImmediate);
  const [first, second] = ['wait:s:1-a:1', 'wait:s:1-a:1:2'];
  expect(sent).toEqual([
    `start ${first}`,
    `started ${first}`,
    `start ${second}`,
    `started ${second}`,
    `waitOver ${second}`,
  ]);
});

it('the end of a run ends the notices of its wait, and begins those of its end', async () => {
  const { agent } = createTestAgent();
  const notify: RunNotices = { calls: ['approval'], ends: ['interrupted'] };
  const runs = await createRunHarness(
    await openTestStores(),
    [agent],
    undefined,
    undefined,
    notify,
  );
  await runs.startWorker();
  const id = runs.newSessionId();
  const run = await runs.begin(id, agent.name, JSON.stringify({ calls: [{ tool: 'charge', id }] }));
  const wait = runs.client.workflow.getHandle(waitWorkflowIdOf(run.runId, 1, 1));
  await untilWaits(wait, 1);
  await runs.executor.stop(id, { mode: 'interrupt' });
  await wait.result();
  const { events } = await wait.fetchHistory();
  const told = events?.flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
    signal == null ? [] : [signal.signalName],
  );
  expect(told).toEqual([SIGNALS.waitOver]);
  await runs.client.workflow.getHandle(endWorkflowIdOf(run.runId)).result();
});

/** Waits until a notice workflow exists and has begun to wait for the given time. */
async function untilWaits(wait: WorkflowHandle, times: number): Promise<void> {
  await until('it waits', async () => {
    const { events } = await wait.fetchHistory().catch(() => ({ events: [] }));
    const isTimer = (event: HistoryEvent) => event.timerStartedEventAttributes;
    return events?.filter(isTimer).length === times;
  });
}

/** Plays a notice workflow whose looks at the record are those of the test. */
async function play(
  announce: (look: WaitLook, wait: WorkflowHandle) => Promise<WaitOutlook>,
  beside: (wait: WorkflowHandle) => Promise<void> = () => Promise.resolve(),
): Promise<WaitLook[]> {
  const { taskQueue, client } = await createRunHarness(await openTestStores(), []);
  const connection = await NativeConnection.connect({ address: sharedTemporalAddress() });
  const looks: WaitLook[] = [];
  const announceWait = (look: WaitLook): Promise<WaitOutlook> => {
    looks.push(look);
    return announce(look, client.workflow.getHandle(`wait:${taskQueue}`));
  };
  const workers = [
    await Worker.create({
      connection,
      taskQueue,
      workflowBundle: { codePath: bundlePath },
    }),
    await Worker.create({
      connection,
      taskQueue: noticeQueueOf(taskQueue),
      activities: { announceWait },
    }),
  ];
  const ended = workers.map((worker) => worker.run());
  const workflowId = `wait:${taskQueue}`;
  const wait = await client.workflow.start(WAIT_WORKFLOW_TYPE, {
    workflowId,
    taskQueue,
    args: [REF],
  });
  await Promise.all([wait.result(), beside(wait)]);
  for (const worker of workers) worker.shutdown();
  await Promise.all(ended);
  await connection.close();
  return looks;
}

const REF = { sessionId: 's', runId: 's:1-a', agent: 'lab', step: 1 };

it('a notice workflow that learns of a call during its last look looks again', async () => {
  let isFirst = true;
  const looks = await play(async (_, wait) => {
    if (isFirst) await wait.signal(SIGNALS.waitGrown);
    isFirst = false;
    return undefined;
  });
  expect(looks).toEqual([REF, REF]);
});

it('a notice workflow looks when time has passed, when a call is added and at the end, each time with its progress', async () => {
  const progress = (heldMs: number): WaitProgress => ({ calls: [], heldMs });
  let count = 0;
  const looks = await play(
    ({ over }) => {
      count += 1;
      const againMs = count === 1 ? 10 : 3_600_000;
      return Promise.resolve(over ? undefined : { progress: progress(count), againMs });
    },
    async (wait) => {
      for (const [timers, signal] of [
        [2, SIGNALS.waitGrown],
        [3, SIGNALS.waitOver],
      ] as const) {
        await untilWaits(wait, timers);
        await wait.signal(signal);
      }
    },
  );
  expect(looks).toEqual([
    REF,
    { ...REF, progress: progress(1) },
    { ...REF, progress: progress(2) },
    { ...REF, progress: progress(3), over: {} },
  ]);
});
