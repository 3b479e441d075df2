import { Client, Connection } from '@temporalio/client';
import { sendAgain, untilNotTaken } from '../support/delivery-workflows.js';
import { ask, runLab, sessionOf } from '../support/lab-run.js';
import {
  startReceiver,
  type NoticeReceiver,
  type ReceivedNotice,
} from '../support/notice-receiver.js';
import { sharedTemporal, startProduct, type Product } from '../support/product.js';
import { until } from '../support/until.js';

let hook: NoticeReceiver;
let broken: NoticeReceiver;
let product: Product;
let connection: Connection;

beforeAll(async () => {
  hook = await startReceiver();
  const secrets = [`whsec_${'a'.repeat(32)}`];
  broken = await startReceiver();
  broken.answer = () => ({ status: 500 });
  const as = { kind: 'webhook', secrets, privateNetwork: true };
  const receivers = [
    { name: 'hook', ...as, url: hook.url },
    { name: 'broken', ...as, url: broken.url, events: ['run.failed'] },
  ];
  product = await startProduct({
    env: {
      NOTIFY_RECEIVERS: JSON.stringify(receivers),
      NOTIFY_REMIND_AFTER: '2s',
      NOTIFY_RETRY_FOR: '11s',
    },
  });
  connection = await Connection.connect({ address: sharedTemporal() });
}, 120_000);
afterAll(async () => {
  await connection.close();
  await product.stop();
  await hook.close();
  await broken.close();
});

it('questions of tools that wait are notified, each of a step, in both shapes', async () => {
  const plan = [{ suspend: 'first' }, { suspend: 'second' }];
  for (const agent of ['lab', 'lab-leg']) {
    const runId = await runLab(product, [ask('wait', { plan })], undefined, agent);
    const session = sessionOf(runId);
    for (const [at, toolName] of ['first', 'second'].entries()) {
      const { data } = await until(`${toolName} is asked`, async () =>
        hook.taken.find(
          (each) =>
            each.type === 'tool.requested' &&
            each.data['sessionId'] === session &&
            each.data['toolName'] === toolName,
        ),
      );
      const path = `/api/chat/${session}/pending/${encodeURIComponent(String(data['toolCallId']))}`;
      const answered = await fetch(product.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ result: { value: at } }),
      });
      expect(answered.status).toBe(202);
      await until(`${toolName} is settled`, async () =>
        hook.taken.find(
          (each) => each.type === 'tool.settled' && each.data['toolCallId'] === data['toolCallId'],
        ),
      );
    }
    await hook.untilTaken(session, 'run.completed');
  }
});

it('reminders keep their time when a tool beside the questions wakes, and its own question is notified', async () => {
  const plan = [{ sleepMs: 300 }, { suspend: 'later' }];
  const calls = [
    { tool: 'charge', id: 'c1', args: { amount: 5 } },
    { tool: 'charge', id: 'c2', args: { amount: 6 } },
    { tool: 'wait', id: 'c3', args: { plan } },
  ];
  const session = sessionOf(await runLab(product, [{ calls }]));
  const later = await hook.untilTaken(session, 'tool.requested');
  expect(later.data).toMatchObject({ toolName: 'later' });
  await hook.untilTaken(session, 'tool.reminder');
  const of = (type: string, toolCallId?: string) =>
    hook.taken.filter(
      ({ data, ...each }) =>
        each.type === type &&
        data['sessionId'] === session &&
        (toolCallId === undefined || namedIn(data).includes(toolCallId)),
    );
  expect(of('tool.requested')).toHaveLength(1);
  // Both were asked at once.
  expect(of('approval.requested')).toMatchObject([{ data: { others: 1 } }]);
  for (const toolCallId of ['c1', 'c2']) {
    await until('it is reminded of', async () => of('approval.reminder', toolCallId).length > 0);
    const [asked, ...again] = of('approval.requested', toolCallId);
    const [reminded, ...more] = of('approval.reminder', toolCallId);
    expect([...again, ...more]).toEqual([]);
    expect(timeOf(reminded) - timeOf(asked)).toBe(2_000);
  }
});

const namedIn = ({ toolCallId, calls = [{ toolCallId }] }: ReceivedNotice['data']): unknown[] =>
  (calls as { toolCallId: unknown }[]).map((call) => call.toolCallId);

const timeOf = (notice: ReceivedNotice | undefined): number =>
  Date.parse((JSON.parse(notice?.body ?? '{}') as { timestamp: string }).timestamp);

it('a receiver that answers 500 until the time is over leaves a dead letter, which is sent again with the same id', async () => {
  const session = sessionOf(await runLab(product, [{ fail: { status: 400 } }]));
  const temporal = new Client({ connection });
  const { workflowId, reason } = await untilNotTaken(temporal, session, 'broken');
  // At once, and five seconds later: the next attempt would come too late.
  expect([broken.attempts, reason]).toEqual([2, 'The receiver answered 500.']);
  broken.answer = () => ({ status: 204 });
  await sendAgain(temporal, workflowId);
  await temporal.workflow.getHandle(workflowId).result();
  expect(broken.taken).toMatchObject([{ type: 'run.failed', data: { sessionId: session } }]);
  expect(new Set(broken.ids)).toEqual(new Set([broken.taken[0]?.id]));
});
