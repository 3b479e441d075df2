import { createDeliveries } from '../../../extensions/notify/deliveries.js';
import { toNotifySettings } from '../../../extensions/notify/settings.js';
import type { Delivery, Notice } from '../../../protocol/notices.js';
import { createAnnounceFailure } from '../../../extensions/notify/activities.js';

it('the receiver that did not take a notice is not notified of it, the others are', async () => {
  const begun: string[] = [];
  const client = {
    connection: { withDeadline: (_: unknown, work: () => Promise<unknown>) => work() },
    workflow: {
      start: async (_: string, { args: [delivery] }: { args: [Delivery] }) => {
        begun.push(delivery.receiver);
      },
    },
  };
  const receivers = ['one', 'two', 'three'].map((name) => ({
    name,
    kind: 'slack' as const,
    url: 'https://example.com',
    ...(name === 'three' && { tenant: 'other' }),
  }));
  const { announce } = createDeliveries(client as never, 'q', toNotifySettings({ receivers }));
  await announce({ id: 'msg_1', type: 'delivery.failed', at: 1, receiver: 'one' });
  expect(begun).toEqual(['two']);
});

it('others are notified of a delivery that failed, which is counted', async () => {
  const announced: Notice[] = [];
  const counted: object[] = [];
  const fail = createAnnounceFailure(
    { announce: async (notice) => void announced.push(notice) },
    (event) => void counted.push(event),
  );
  const failed = { receiver: 'hook', code: 'not_delivered' };
  await fail({ notice: { id: 'msg_2', type: 'run.failed', at: 1, tenant: 'acme' }, ...failed });
  expect(announced).toMatchObject([{ type: 'delivery.failed', tenant: 'acme', receiver: 'hook' }]);
  expect(counted).toMatchObject([{ type: 'run.failed' }]);
});
