import { createTreasury, type Bank } from '../../examples/waiting/agent.js';
import { createTestRuntime } from '../../testing/index.js';

it('the example of a tool that waits is approved, orders once, and gets what the bank reports', async () => {
  const orders: [amount: number, url: string][] = [];
  const bank: Bank = {
    requestTransfer: (amount, _, callbackUrl) => {
      orders.push([amount, callbackUrl]);
      return Promise.resolve();
    },
  };
  const script = [{ calls: [{ tool: 'transfer', args: { amount: 9 } }] }, { say: 'Sent.' }];
  const runtime = await createTestRuntime({
    agents: [createTreasury(bank)],
    models: { treasury: script },
  });
  const waiting = await (await runtime.run('treasury', 'Send 9.')).approve('transfer');
  const [[amount, callback] = [0, '']] = orders;
  const [, token = ''] = /\/api\/hooks\/([\w-]+)$/.exec(callback) ?? [];
  await runtime.executor.runs.callWebhook(token, { sent: amount });
  const ended = await waiting.next();
  await ended.expectCalls([{ tool: 'transfer', output: { sent: 9 } }]);
  expect(orders).toHaveLength(1);
  await runtime.close();
});
