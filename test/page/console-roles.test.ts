import type { AuditReply } from '../../protocol/audit.js';
import type { OperatorWaiting } from '../../protocol/operator.js';
import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import { ask } from '../support/lab-run.js';
import { openConsole, type ConsolePage } from '../support/page-driver.js';
import { createSignIn, json, outcome, signToken } from '../support/people.js';
import { newSessionId, useProduct } from '../support/product.js';
import { startSigningProxy } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

/** The console for people with and without roles, behind a proxy that signs them in. */
const product = useProduct('accounts');
/** Other files leave questions in the same product, so this file has its own tenant. */
const TENANT = newSessionId();
const signIn = createSignIn(() => product.url);
const open: (() => Promise<void>)[] = [];

const REFUND = `I want a refund for order ${EXAMPLE_ORDER_ID}, please.`;

/** Asks as a customer without a role; returns the conversation's id. */
async function askAsCora(agent: 'support' | 'lab', content: string): Promise<string> {
  const id = newSessionId();
  const cora = await signIn('cora', TENANT);
  const message = { id: 'u1', role: 'user', content };
  await (await cora.post(`chat/${id}?agent=${agent}`, { message })).text();
  return id;
}

afterAll(async () => {
  for (const close of open) await close();
});

async function openAs(authorization: string, address: string): Promise<ConsolePage> {
  const proxy = await startSigningProxy(() => product.url, authorization);
  open.push(proxy.close);
  return openConsole(proxy.url, address);
}

it('a viewer sees what waits and what ran, and no button that acts', async () => {
  await askAsCora('support', REFUND);
  const token = await signToken('vera', TENANT, ['viewer']);
  const console = await openAs(token, '/console');
  await console.at('question').waitFor();
  expect(await console.at('not-yours').count()).toBe(1);
  for (const button of ['approve', 'deny', 'extend']) {
    expect(await console.at(button).count()).toBe(0);
  }
  await console.page.getByRole('link', { name: 'Open the run' }).click();
  await console.at('run-status').waitFor();
  for (const act of ['stop', 'retry', 'resume', 'fork']) {
    expect(await console.at(`run-${act}`).count()).toBe(0);
  }
  await console.at('steps').waitFor();
  await console.open('/console/runs');
  await console.at('run-row').first().waitFor();
  expect(await console.at('choose-page').count()).toBe(0);
  await console.leave();

  const lead = await signIn('olga', TENANT, 'operator');
  const { entries } = await json<AuditReply>(lead.get('operator/audit?action=read'));
  const veras = entries.filter(({ name, via }) => name === 'vera' && via === 'console');
  const seen = veras.map(({ detail }) => detail?.['what']);
  expect(seen).toEqual(expect.arrayContaining(['listTenantWaiting', 'getRun', 'listRuns']));
  // Each hour has its own entries.
  const hours = veras.map(({ detail, target, at }) =>
    JSON.stringify([detail, target, Math.floor(at / 3_600_000)]),
  );
  expect(new Set(hours).size).toBe(seen.length);
});

it('an approver decides what the tool leaves to approvers', async () => {
  const sessionId = await askAsCora('support', REFUND);
  const token = await signToken('lea', TENANT, ['approver']);
  const console = await openAs(token, `/console/waiting/${sessionId}`);
  await console.click('approve');
  await console.at('empty').waitFor();
  await console.open('/console/runs?owner=cora');
  await console.at('run-row').getByRole('link', { name: sessionId }).click();
  await console.at('run-status').getByText('Completed').waitFor();
  expect(await console.at('steps').textContent()).toContain('by lea');
});

it('someone without a role, of another tenant, or whose sign-in has expired reads why', async () => {
  const unnamed = await openAs(await signToken('nora', TENANT), '/console');
  expect(await unnamed.at('problem').textContent()).toContain('Ask an administrator for the role');
  const sessionId = await askAsCora('lab', JSON.stringify({ script: [{ say: 'hi' }] }));
  const foreign = await signToken('otto', 'other', ['operator']);
  const other = await openAs(foreign, '/console');
  expect(await other.at('empty').textContent()).toBe('Nothing waits for people.');
  await other.open(`/console/runs/${sessionId}:1-x`);
  expect(await other.at('problem').textContent()).toBe(
    'This run does not exist, or is not yours to see.',
  );
  const expired = await openAs('Bearer expired', '/console');
  expect(await expired.at('problem').textContent()).toContain('Your sign-in has expired.');
  for (const each of [unnamed, other, expired]) await each.leave();
});

it('the owner of a conversation, who has no role, may follow a link to its question; another customer is shown nothing', async () => {
  const id = await askAsCora('lab', JSON.stringify({ script: [ask('charge', { amount: 5 })] }));
  const link = `/console/waiting/${id}`;
  const other = await openAs(await signToken('nora', TENANT), link);
  expect(await other.at('problem').textContent()).toBe(
    'This conversation does not exist, or is not yours to see.',
  );
  expect(await other.at('question').count()).toBe(0);
  const owner = await openAs(await signToken('cora', TENANT), link);
  await owner.click('deny');
  await owner.at('empty').waitFor();
  for (const each of [other, owner]) await each.leave();
});

it('who began a run again withdraws what it asks, and may not approve it', async () => {
  const id = await askAsCora('support', REFUND);
  const olga = await signIn('olga', TENANT, 'operator');
  const asking = async () =>
    (await json<OperatorWaiting>(olga.get(`operator/waiting?session=${id}`))).sessions[0]?.run;
  const first = await until('it asks', asking);
  const run = `operator/runs/${encodeURIComponent(first.runId)}`;
  expect(await outcome(olga.post(`${run}/stop`))).toEqual([202]);
  expect(await outcome(olga.post(`${run}/retry`))).toEqual([202]);
  await until(
    'it asks again',
    async () => ((await asking())?.runId ?? first.runId) !== first.runId,
  );
  const console = await openAs(
    await signToken('olga', TENANT, ['operator']),
    `/console/waiting/${id}`,
  );
  expect(await console.at('not-yours').textContent()).toContain('You have asked for this');
  expect(await console.at('approve').count()).toBe(0);
  await console.click('withdraw');
  await console.at('empty').waitFor();
  await console.leave();
});
