import { createDeliveries } from '../../../../extensions/notify/deliveries.js';
import { toNotifySettings, type Receiver } from '../../../../extensions/notify/settings.js';
import { TIMES } from '../../../../protocol/limits.js';
import { toNoticeId } from '../../../../runs/deliveries.js';
import { sendAgain, untilNotTaken } from '../../../support/delivery-workflows.js';
import { startReceiver } from '../../../support/notice-receiver.js';
import { createRunHarness } from '../../../support/run-harness.js';
import { openTestStores } from '../../../support/test-stores.js';

it('a receiver that answers 500 until the time is over leaves a dead letter, which is sent again with the same id', async () => {
  const [broken, watch] = [await startReceiver(), await startReceiver()];
  for (const { close } of [broken, watch]) atEndOfFile(close);
  const receivers: Receiver[] = [
    { name: 'broken', url: broken.url, events: ['run.failed' as const] },
    { name: 'watch', url: watch.url, events: ['delivery.failed' as const] },
  ].map((each) => ({
    ...each,
    kind: 'webhook',
    secrets: [`whsec_${'a'.repeat(32)}`],
    escalation: false,
    privateNetwork: true,
  }));
  const runs = await createRunHarness(await openTestStores(), []);
  await runs.startWorker({ receivers, times: { ...TIMES, noticeRetryMs: 2_000 } });
  const sessionId = runs.newSessionId();
  const settings = toNotifySettings({ receivers, retryForMs: 5_000 });
  const deliveries = createDeliveries(runs, settings);
  broken.answer = () => ({ status: 410 });
  const problem = 'The receiver answered 410.';
  expect(await deliveries.test('broken', undefined)).toEqual({ status: 'failed', problem });
  broken.answer = () => ({ status: 500 });
  await deliveries.announce({
    id: toNoticeId(sessionId),
    type: 'run.failed',
    at: Date.now(),
    sessionId,
  });
  const { workflowId, reason } = await untilNotTaken(runs.client, sessionId, 'broken');
  // The attempts come at once and two seconds later; the next one would come too late.
  expect([broken.attempts, reason]).toEqual([3, 'The receiver answered 500.']);
  broken.answer = () => ({ status: 204 });
  await sendAgain(runs.client, workflowId);
  await runs.client.workflow.getHandle(workflowId).result();
  expect(broken.taken).toMatchObject([{ type: 'run.failed', data: { sessionId } }]);
  expect(new Set(broken.ids.slice(1))).toEqual(new Set([broken.taken[0]?.id]));
  // Other receivers get no notice of the failed test.
  await watch.untilTaken(sessionId, 'delivery.failed');
  expect(watch.taken).toHaveLength(1);
});
