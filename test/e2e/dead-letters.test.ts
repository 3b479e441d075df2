import { Client, Connection } from '@temporalio/client';
import type { Times } from '../../protocol/times.js';
import { sendAgain, untilNotTaken } from '../support/delivery-workflows.js';
import { runLab, sessionOf } from '../support/lab-run.js';
import { startReceiver, type NoticeReceiver } from '../support/notice-receiver.js';
import { sharedTemporal, startProduct, type Product } from '../support/product.js';

let broken: NoticeReceiver;
let product: Product;
let connection: Connection;

beforeAll(async () => {
  const secrets = [`whsec_${'a'.repeat(32)}`];
  broken = await startReceiver();
  broken.answer = () => ({ status: 500 });
  const as = { kind: 'webhook', secrets, privateNetwork: true };
  const receivers = [{ name: 'broken', ...as, url: broken.url, events: ['run.failed'] }];
  product = await startProduct({
    env: {
      NOTIFY_RECEIVERS: JSON.stringify(receivers),
      NOTIFY_RETRY_FOR: '5s',
      HELIX_TIMES: JSON.stringify({ noticeRetryMs: 2_000 } satisfies Partial<Times>),
    },
  });
  connection = await Connection.connect({ address: sharedTemporal() });
}, 120_000);
afterAll(async () => {
  await connection.close();
  await product.stop();
  await broken.close();
});

it('a receiver that answers 500 until the time is over leaves a dead letter, which is sent again with the same id', async () => {
  const session = sessionOf(await runLab(product, [{ fail: { status: 400 } }]));
  const temporal = new Client({ connection });
  const { workflowId, reason } = await untilNotTaken(temporal, session, 'broken');
  // The attempts come at once and two seconds later; the next one would come too late.
  expect([broken.attempts, reason]).toEqual([2, 'The receiver answered 500.']);
  broken.answer = () => ({ status: 204 });
  await sendAgain(temporal, workflowId);
  await temporal.workflow.getHandle(workflowId).result();
  expect(broken.taken).toMatchObject([{ type: 'run.failed', data: { sessionId: session } }]);
  expect(new Set(broken.ids)).toEqual(new Set([broken.taken[0]?.id]));
});
