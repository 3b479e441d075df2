import { NativeConnection, Worker } from '@temporalio/worker';
import { createNotices } from '../../../../extensions/notify/workflows.js';
import type { WaitLook } from '../../../../protocol/notices.js';
import type { CallRef, RunInput } from '../../../../protocol/run.js';
import { noticeQueueOf, SIGNALS, WAIT_WORKFLOW_TYPE } from '../../../../protocol/temporal.js';
import {
  bundlePath,
  createRunHarness,
  sharedTemporalAddress,
} from '../../../support/run-harness.js';
import { openTestStores } from '../../../support/test-stores.js';

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

it('a notice workflow that learns of a call during its last look looks again', async () => {
  const { taskQueue, client } = await createRunHarness(await openTestStores(), []);
  const connection = await NativeConnection.connect({ address: sharedTemporalAddress() });
  const wait = client.workflow.getHandle(`wait:${taskQueue}`);
  const looks: WaitLook[] = [];
  const announceWait = async (look: WaitLook): Promise<void> => {
    looks.push(look);
    if (looks.length === 1) await wait.signal(SIGNALS.waitGrown);
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
  const ref = { sessionId: 's', runId: 's:1-a', agent: 'lab', step: 1 };
  await client.workflow.execute(WAIT_WORKFLOW_TYPE, {
    workflowId: wait.workflowId,
    taskQueue,
    args: [ref],
  });
  expect(looks).toEqual([ref, ref]);
  for (const worker of workers) worker.shutdown();
  await Promise.all(ended);
  await connection.close();
});
