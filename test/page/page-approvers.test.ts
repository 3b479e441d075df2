import type { Browser } from 'playwright-core';
import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import type { OperatorWaiting } from '../../protocol/operator.js';
import { shareBrowser, openPage } from '../support/page-driver.js';
import { createSignIn, json, outcome, signToken } from '../support/people.js';
import { newSessionId, useProduct } from '../support/product.js';
import { startSigningProxy } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

/** The page of a customer who is signed in, and may not approve a refund. */
const product = useProduct('accounts');
const signIn = createSignIn(() => product.url);
let browser: Browser;
let proxy: Awaited<ReturnType<typeof startSigningProxy>>;
beforeAll(async () => {
  proxy = await startSigningProxy(() => product.url, await signToken('cora', undefined));
  browser = await shareBrowser();
}, 60_000);
afterAll(async () => {
  await proxy.close();
});

async function askForRefund() {
  const sessionId = newSessionId();
  const chat = await openPage(browser, proxy.url, sessionId, 'support');
  await chat.say(`I want a refund for order ${EXAMPLE_ORDER_ID}, please.`);
  await chat.at('withheld-card').waitFor();
  expect(await chat.at('approval-card').count()).toBe(0);
  // There is nothing for her in the console.
  expect(await chat.at('to-console').count()).toBe(0);
  return { sessionId, chat };
}

it('the page of one who may not decide says so, and shows what a colleague decided', async () => {
  const { sessionId, chat } = await askForRefund();
  const card = (await chat.at('withheld-card').textContent()) ?? '';
  expect(card).toContain('A colleague with the role “approver” has to agree.');
  // What it is about, and until when, without a click.
  expect(card).toMatch(new RegExp(`${EXAMPLE_ORDER_ID}.*No deadline`));
  await chat.untilStatus('colleague');
  expect(await chat.at('regenerate').count()).toBe(0);
  const lead = await signIn('lea', undefined, 'approver');
  const { sessions } = await json<OperatorWaiting>(
    lead.get(`operator/waiting?session=${sessionId}`),
  );
  const { toolCallId = '', approvalId, inputHash } = sessions[0]?.pending[0] ?? {};
  const path = `operator/waiting/${sessionId}/${toolCallId}`;
  const answer = { approved: true, approvalId, inputHash };
  expect(await outcome(lead.post(path, answer))).toEqual([202]);
  await chat.untilReplyHas('the refund was approved', 30_000);
  const approved = /^Approved by lea, .*\d\d:\d\d/;
  await until('it names who decided', async () =>
    approved.test((await chat.at('decision').first().textContent()) ?? ''),
  );
  await chat.page.reload();
  await chat.untilStatus('ready', 30_000);
  expect(await chat.at('decision').first().textContent()).toMatch(approved);
  expect(chat.faults).toEqual([]);
});

it('the one who asked may withdraw the request', async () => {
  const { chat } = await askForRefund();
  await chat.click('withdraw');
  await until('the refund is withdrawn', async () =>
    (await chat.tools()).some(({ tool, state }) => tool === 'refund' && state === 'denied'),
  );
  expect(chat.faults).toEqual([]);
});
