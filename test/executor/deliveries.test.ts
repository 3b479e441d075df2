import { WorkflowNotFoundError } from '@temporalio/common';
import { createDeliveries } from '../../executor/deliveries.js';
import { toNotifySettings } from '../../notify/settings.js';
import type { Delivery } from '../../protocol/notices.js';

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

it('a notice is under way while one of its receivers has yet to take it', async () => {
  const states: Record<string, string> = { one: 'COMPLETED', two: 'FAILED' };
  const client = {
    connection: { withDeadline: (_: unknown, work: () => Promise<unknown>) => work() },
    workflow: {
      getHandle: (workflowId: string) => ({
        describe: async () => {
          const name = states[workflowId.split('-').at(-1) ?? ''];
          if (name === undefined) throw new WorkflowNotFoundError('gone', workflowId, undefined);
          return { workflowId, status: { name }, startTime: new Date() };
        },
      }),
    },
  };
  const receivers = ['one', 'two', 'three'].map((name) => ({
    name,
    kind: 'slack' as const,
    url: 'https://example.com',
    events: ['run.failed' as const],
  }));
  const { isUnderWay } = createDeliveries(client as never, 'q', toNotifySettings({ receivers }));
  const notice = { id: 'msg_1', type: 'run.failed', at: 1 } as const;
  expect(await isUnderWay(notice)).toBe(false);
  states['three'] = 'RUNNING';
  expect(await isUnderWay(notice)).toBe(true);
  expect(await isUnderWay({ ...notice, type: 'run.completed' })).toBe(false);
});
