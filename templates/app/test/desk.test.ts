import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';

const log = join(mkdtempSync(join(tmpdir(), 'payments-')), 'payments.log');
vi.stubEnv('PAYMENTS_LOG', log);
const { desk } = await import('../agents.js');
const { payBack } = await import('../payments.js');

test('a person decides about refunds, and about nothing else', () => {
  const asking = desk.tools.filter(({ requireApproval }) => requireApproval);
  expect(asking.map(({ name }) => name)).toEqual(['refund']);
});

test('a refund that is tried again is paid once', async () => {
  for (let attempt = 1; attempt <= 2; attempt += 1) await payBack({ order: '1', amount: 5 }, 'key');
  await payBack({ order: '2', amount: 5 }, 'another key');
  expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(2);
});
