import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import type { OperatorWaiting } from '../../protocol/operator.js';
import { loadSnapshot, toScript } from '../support/chat-client.js';
import { findProblems } from '../support/axe.js';
import { delegate } from '../support/lab-calls.js';
import { runLab } from '../support/lab-run.js';
import { openPage } from '../support/page-driver.js';
import { createSignIn, json, outcome, signToken } from '../support/people.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { startSigningProxy } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

/** Signed-in customers, who may not approve refunds, see questions, other agents, and nothing of each other. */
const product = useLocalProduct({ hasAccounts: true });
const signIn = createSignIn(() => product.url);
let proxy: Awaited<ReturnType<typeof startSigningProxy>>;
let eve: typeof proxy;
beforeAll(async () => {
  const startAs = async (name: string) =>
    startSigningProxy(() => product.url, await signToken(name, undefined));
  [proxy, eve] = await Promise.all([startAs('cora'), startAs('eve')]);
});
afterAll(() => Promise.all([proxy.close(), eve.close()]));

it('one who may not decide is told who may and what was decided, and may withdraw what was asked', async () => {
  const sessionId = newSessionId();
  const chat = await openPage(proxy.url, sessionId, 'support');
  const askForRefund = async (): Promise<void> => {
    await chat.say(`I want a refund for order ${EXAMPLE_ORDER_ID}, please.`);
    await chat.at('withheld-card').waitFor();
    expect(await chat.at('approval-card').count()).toBe(0);
  };
  await askForRefund();
  // The page shows her no way to the console.
  expect(await chat.at('to-console').count()).toBe(0);
  const card = (await chat.at('withheld-card').textContent()) ?? '';
  expect(card).toContain('A colleague with the role “approver” has to agree.');
  // The card shows its subject and deadline without a click.
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
  await chat.untilReplyHas('the refund was approved');
  const approved = /^Approved by lea, .*\d\d:\d\d/;
  await until('it names who decided', async () =>
    approved.test((await chat.at('decision').first().textContent()) ?? ''),
  );
  await chat.page.reload();
  await chat.untilStatus('ready');
  expect(await chat.at('decision').first().textContent()).toMatch(approved);

  await askForRefund();
  await chat.click('withdraw');
  await until('the refund is withdrawn', async () =>
    (await chat.tools()).some(({ tool, state }) => tool === 'refund' && state === 'denied'),
  );
  await chat.leave();
});

it('the customer chooses on the page, with more time and after a reload', async () => {
  const sessionId = newSessionId();
  const chat = await openPage(proxy.url, sessionId, 'support');
  await chat.say(`My order ${EXAMPLE_ORDER_ID} arrived broken.`);
  await chat.untilStatus('waiting');
  expect(await chat.at('deadline').textContent()).toMatch(/^(9|10):\d\d left/);
  await chat.click('extend');
  await until('there is more time', async () =>
    /^(19|20):\d\d left/.test((await chat.at('deadline').textContent()) ?? ''),
  );
  await chat.page.reload();
  await chat.untilStatus('waiting');
  await chat.click('choose-replacement');
  await chat.untilReplyHas('a new one for order');
  expect(await chat.at('chosen').textContent()).toContain('Send me a new one');
  await chat.untilStatus('ready');
  const { messages, pending } = await loadSnapshot(proxy.url, sessionId);
  expect(JSON.stringify(messages)).toContain('"chosen":"replacement"');
  expect(pending).toEqual([]);
  expect(await chat.replies()).toHaveLength(1);
  await chat.leave();
});

it('the page asks for the result of an unknown client tool, and continues without one when the deadline is over', async () => {
  const chat = await openPage(proxy.url);
  await chat.say(toScript({ calls: [{ tool: 'locate', id: 'l1', args: {} }] }).text);
  await chat.untilStatus('waiting');
  await chat.at('client-result').fill('in the kitchen');
  await chat.click('give-result');
  await chat.untilReplyHas('done');
  expect(await chat.at('tool-output').textContent()).toContain('in the kitchen');
  await chat.untilStatus('ready');

  const question = { tool: 'ask', id: 'a1', args: { question: 'Well?' } };
  await chat.say(toScript({ calls: [question] }, { say: 'Without you.' }).text);
  await chat.untilStatus('waiting');
  await chat.untilReplyHas('Without you.');
  expect((await chat.tools()).at(-1)).toEqual({ tool: 'ask', state: 'failed' });
  await chat.leave();
});

it('a card shows what another agent was asked, and what it writes while it works, and folds both', async () => {
  const chat = await openPage(proxy.url);
  const echo = { tool: 'echo', id: 'e1', args: { value: 'x' } };
  // It works until someone answers it.
  const held = { say: 'Begun.', calls: [{ tool: 'locate', id: 'l1', args: {} }] };
  const child = delegate('d1', { calls: [echo] }, held, { say: 'Written by the child.' });
  await chat.say(toScript({ calls: [child] }, { say: 'after' }).text);
  const report = chat.at('sub-agent-report');
  await report.getByText('Begun.').waitFor();
  expect(await report.textContent()).toContain('Echo done');
  expect((await chat.tools())[0]).toEqual({ tool: 'delegate', state: 'running' });
  await chat.at('client-result').fill('here');
  await chat.click('give-result');
  await chat.untilReplyHas('after');
  expect(await report.isVisible()).toBe(false);
  expect(await chat.at('sub-agent-result').textContent()).toContain('Written by the child.');
  await chat.page.reload();
  await chat.untilStatus('ready');
  await chat.page.getByText('What it did').click();
  await report.getByText('Written by the child.').waitFor();
  expect(await report.textContent()).toContain('Echo done');
  const asked = chat.at('sub-agent-input').getByText('Written by the child.');
  expect(await asked.isVisible()).toBe(false);
  await chat.page.getByText('What it was asked').click();
  await asked.waitFor();
  await chat.leave();
});

it('a conversation of another person shows nothing of it, refuses messages, and another can be begun', async () => {
  const sessionId = newSessionId();
  await runLab({ url: proxy.url }, [{ say: 'A secret of Cora.' }], sessionId);
  const chat = await openPage(eve.url, sessionId);
  await chat.untilStatus('ready');
  expect(await chat.replies()).toEqual([]);
  expect(await chat.at('nothing-here').textContent()).toContain('it belongs to someone else');
  await chat.say(toScript({ say: 'Hello.' }).text);
  await chat.at('error-line').getByText(/./).first().waitFor();
  expect(await chat.page.content()).not.toContain('A secret of Cora.');
  expect(await findProblems(chat.page)).toEqual([]);
  await chat.page.getByRole('button', { name: 'New chat' }).locator('visible=true').first().click();
  await chat.untilStatus('ready');
  expect(await chat.at('nothing-here').count()).toBe(0);
  // A reload does not bring the notice back: the page made up this conversation's id.
  await chat.page.reload();
  await chat.untilStatus('ready');
  expect(await chat.at('nothing-here').count()).toBe(0);
  await chat.say(toScript({ say: 'Hello.' }).text);
  await chat.untilReplyHas('Hello.');
  await chat.leave();
});
