import { readFileSync } from 'node:fs';
import { createPayer, type Bank } from '../../examples/payments/agent.js';
import { createInProcessExecutor } from '../../extensions/one-process/index.js';
import { createMemoryStores } from '../../store/memory/index.js';
import { createScriptedModel, createTestRuntime } from '../../testing/index.js';

/** Creates a bank that books payments and, unless `answers`, never replies. */
function createBank(answers: boolean) {
  const booked = new Map<string, { receipt: string }>();
  let reached: () => void;
  const isBooked = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const bank: Bank = {
    pay: (amount, key) => {
      const receipt = booked.get(key) ?? { receipt: `r-${String(amount)}` };
      booked.set(key, receipt);
      reached();
      return answers ? Promise.resolve(receipt) : new Promise(() => undefined);
    },
    find: (key) => Promise.resolve(booked.get(key)),
  };
  return { bank, booked, isBooked };
}

const PAYS = { calls: [{ tool: 'pay', args: { amount: 20 } }] };

it('the example pays what it may, asks for more, and keeps secrets on both sides', async () => {
  const script = [
    PAYS,
    { calls: [{ tool: 'pay', args: { amount: 500 } }] },
    ({ prompt }: { prompt: unknown }) => ({
      say: JSON.stringify(prompt).includes('4111') ? 'A card!' : 'Paid.',
    }),
    // The run executes no call of a refused reply.
    { say: 'The secret is 42.', calls: [{ tool: 'pay', args: { amount: 1 } }] },
  ];
  const { bank, booked } = createBank(true);
  const agents = [createPayer(bank, createScriptedModel(script))];
  const runtime = await createTestRuntime({ agents });
  const asked = await runtime.run('payer', 'Pay both by 4111111111111111.');
  const done = await asked.expectPending('pay', { amount: 500 }).approve('pay');
  done.expectStatus('completed').expectText('Paid.');
  expect(booked.size).toBe(2);
  const refused = await done.send('And the secret?');
  refused.expectStatus('completed').expectText('I cannot show this.');
  expect(booked.size).toBe(2);
  await runtime.close();
});

it('the guide to agents shows the guards of the example', () => {
  const [code] = /\/\*\* An input guard.*?(?=\/\*\*\n \* Creates an agent)/s.exec(
    readFileSync(new URL('../../examples/payments/agent.ts', import.meta.url), 'utf8'),
  ) ?? ['nothing'];
  const guide = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
  expect(guide).toContain(code.trim());
});

it('the example looks a payment up at the bank when its process died in the middle', async () => {
  const { bank, booked, isBooked } = createBank(false);
  const stores = createMemoryStores();
  const open = () =>
    createInProcessExecutor({
      agents: [createPayer(bank, createScriptedModel([PAYS, { say: 'Paid.' }]))],
      stores,
    });
  const first = open();
  const { sessionId } = await first.execute('payer', 'Pay.');
  await isBooked;
  await first.close();
  const second = open();
  await second.recover();
  const handle = await second.getHandle(sessionId);
  expect(await handle?.result()).toMatchObject({ status: 'completed', text: 'Paid.' });
  expect(JSON.stringify(await stores.store.sessions.rows(sessionId, 0))).toContain('r-20');
  expect(booked.size).toBe(1);
  await second.close();
});
