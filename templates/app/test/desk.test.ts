// Tests the agent with a scripted model and without engines, using helix-temporal's test kit.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestRuntime, type TestRuntime } from 'helix-temporal/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const log = join(mkdtempSync(join(tmpdir(), 'payments-')), 'payments.log');
vi.stubEnv('PAYMENTS_LOG', log);
const { desk } = await import('../agents.js');

const script = [
  { calls: [{ tool: 'lookupOrder', args: { order: '1042' } }] },
  { calls: [{ tool: 'refund', args: { order: '1042', amount: 48.5 } }] },
  { say: 'That is settled.' },
];
const payments = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);

let runtime: TestRuntime;
beforeEach(async () => {
  rmSync(log, { force: true });
  runtime = await createTestRuntime({ agents: [desk], models: { desk: script } });
});
afterEach(() => runtime.close());

test('a refund is paid once, after a person has approved it', async () => {
  const asked = await runtime.run('desk', 'My teapot is cracked.');
  asked.expectPending('refund', { order: '1042', amount: 48.5 });
  expect(payments()).toEqual([]);
  const done = await asked.approve('refund', { by: 'ann' });
  done.expectStatus('completed').expectText(/settled/);
  expect(payments()).toHaveLength(1);
});

test('a refund that waits for a week without an answer is not paid', async () => {
  const asked = await runtime.run('desk', 'My teapot is cracked.');
  await runtime.advance(8 * 24 * 60 * 60 * 1_000);
  const ended = await asked.next();
  await ended.expectCalls([{ tool: 'lookupOrder' }, { tool: 'refund', approved: false }]);
  expect(payments()).toEqual([]);
});
