// The agent with a script in place of its model: no engines, no key.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestRuntime } from 'helix-temporal/testing';
import { afterAll, expect, test, vi } from 'vitest';

const log = join(mkdtempSync(join(tmpdir(), 'payments-')), 'payments.log');
vi.stubEnv('PAYMENTS_LOG', log);
const { desk } = await import('../agents.js');

const asks = { tool: 'refund', args: { order: '1042', amount: 5 } };
const runtime = await createTestRuntime({
  agents: [desk],
  models: { desk: [{ say: 'I will ask a colleague.', calls: [asks] }, { say: 'Done.' }] },
});
afterAll(() => runtime.close());

test('a refund is paid once a person has approved it', async () => {
  const asked = await runtime.run('desk', 'My teapot is broken.');
  const done = await asked.expectPending('refund', { amount: 5 }).approve('refund');
  await done.expectText('Done.').expectCalls([{ tool: 'refund', output: { paid: true } }]);
  expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(1);
});

test('a refund that a person denies is not paid', async () => {
  const before = readFileSync(log, 'utf8');
  const asked = await runtime.run('desk', 'My teapot is broken.');
  await asked.expectPending('refund').deny('refund');
  expect(readFileSync(log, 'utf8')).toBe(before);
});
