import { createDeliveries } from '../../../extensions/notify/deliveries.js';
import { toNotifySettings } from '../../../extensions/notify/settings.js';
import type { Delivery } from '../../../protocol/notices.js';

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
