import { createTreasury, type Bank } from '../../examples/waiting/agent.js';
import { createTestRuntime } from '../../testing/index.js';

it('the example of a tool that waits reserves, asks, is confirmed, sleeps and sends, each once', async () => {
  const done: string[] = [];
  let callback = '';
  const bank: Bank = {
    reserve: async (amount) => {
      done.push(`reserve ${String(amount)}`);
      return Promise.resolve({ order: 'o1' });
    },
    requestConfirmation: async (order, url) => {
      done.push(`request ${order}`);
      callback = url;
      return Promise.resolve();
    },
    send: async (order, amount, code) => {
      done.push(`send ${String(amount)} of ${order} with ${code}`);
      return Promise.resolve({ sent: amount });
    },
  };
  const script = [{ calls: [{ tool: 'transfer', args: { amount: 9 } }] }, { say: 'Sent.' }];
  const runtime = await createTestRuntime({
    agents: [createTreasury(bank)],
    models: { treasury: script },
  });
  const asked = await runtime.run('treasury', 'Send 9.');
  const limited = await asked
    .expectPending('choose_limit')
    .answer('choose_limit', { result: { limit: 5 } });
  const [, token = ''] = /\/api\/hooks\/([\w-]+)$/.exec(callback) ?? [];
  await runtime.executor.runs.callWebhook(token, { code: '1234' });
  const asleep = await limited.next();
  await runtime.advance(3_700_000);
  const ended = await asleep.next();
  await ended.expectCalls([{ tool: 'transfer', output: { sent: 5 } }]);
  expect(done).toEqual(['reserve 9', 'request o1', 'send 5 of o1 with 1234']);
  await runtime.close();
});
