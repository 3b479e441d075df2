import type { Browser } from 'playwright-core';
import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import { loadSnapshot, toScript } from '../support/chat-client.js';
import { delegate } from '../support/lab-calls.js';
import { shareBrowser, openPage } from '../support/page-driver.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

/** What people do with a question: change it, choose, take their time. */
const product = useProduct();
let browser: Browser;
beforeAll(async () => {
  browser = await shareBrowser();
});

it.concurrent(
  'a colleague changes the amount of a refund, and the page shows the change',
  async () => {
    const sessionId = newSessionId();
    const chat = await openPage(browser, product.url, sessionId, 'support');
    await chat.say(`I want a refund of $20 for order ${EXAMPLE_ORDER_ID}.`);
    await chat.untilStatus('waiting', 30_000);
    // What its author calls the tool, and what the amount is in.
    await chat.page.getByText('Refund an order', { exact: true }).waitFor();
    await chat.page.getByText('$', { exact: true }).waitFor();
    await chat.at('input-amount').fill('-1');
    await chat.click('approve');
    expect(await chat.page.locator('input:invalid').getAttribute('data-testid')).toBe(
      'input-amount',
    );
    expect(await chat.status()).toBe('waiting');
    await chat.at('input-amount').fill('12.5');
    await chat.click('approve');
    await chat.untilReplyHas('changed the amount; I had asked for $20.00', 30_000);
    await chat.untilReplyHas('$12.50 for order', 30_000);
    expect(await chat.at('tool-changed').textContent()).toContain('12.5');
    await chat.untilStatus('ready', 30_000);
    await chat.page.reload();
    await chat.untilStatus('ready');
    expect(await chat.at('tool-changed').textContent()).toContain('12.5');
    expect(await chat.replies()).toHaveLength(1);
    expect(chat.faults).toEqual([]);
  },
);

it.concurrent('the customer chooses on the page, with more time and after a reload', async () => {
  const sessionId = newSessionId();
  const chat = await openPage(browser, product.url, sessionId, 'support');
  await chat.say(`My order ${EXAMPLE_ORDER_ID} arrived broken.`);
  await chat.untilStatus('waiting', 30_000);
  expect(await chat.at('deadline').textContent()).toMatch(/^(9|10):\d\d left/);
  await chat.click('extend');
  await until('there is more time', async () =>
    /^(19|20):\d\d left/.test((await chat.at('deadline').textContent()) ?? ''),
  );
  await chat.page.reload();
  await chat.untilStatus('waiting');
  await chat.click('choose-replacement');
  await chat.untilReplyHas('a new one for order', 30_000);
  expect(await chat.at('chosen').textContent()).toContain('Send me a new one');
  await chat.untilStatus('ready', 30_000);
  const { messages, pending } = await loadSnapshot(product.url, sessionId);
  expect(JSON.stringify(messages)).toContain('"chosen":"replacement"');
  expect(pending).toEqual([]);
  expect(await chat.replies()).toHaveLength(1);
  expect(chat.faults).toEqual([]);
});

it.concurrent('the page shows what the researcher was asked and what it found', async () => {
  const chat = await openPage(browser, product.url, newSessionId(), 'support');
  await chat.say('Can you recommend a gift for a coffee lover?');
  await chat.untilReplyHas('Our researcher recommends', 30_000);
  expect(await chat.tools()).toEqual([{ tool: 'research', state: 'done' }]);
  expect(await chat.at('sub-agent-result').textContent()).toContain('Ceramic pour-over coffee set');
  const asked = chat.at('sub-agent-input').getByText('coffee lover');
  expect(await asked.isVisible()).toBe(false);
  await chat.page.getByText('What it was asked').click();
  await asked.waitFor();
  expect(chat.faults).toEqual([]);
});

it.concurrent('the page answers calls of unknown client tools with an error', async () => {
  const chat = await openPage(browser, product.url, newSessionId());
  await chat.say(toScript({ calls: [{ tool: 'locate', id: 'l1', args: {} }] }).text);
  await chat.untilStatus('waiting');
  await chat.at('client-result').fill('in the kitchen');
  await chat.click('give-result');
  await chat.untilReplyHas('done');
  expect(await chat.at('tool-output').textContent()).toContain('in the kitchen');
  expect(chat.faults).toEqual([]);
});

it.concurrent('the page continues without an answer when the deadline is over', async () => {
  const chat = await openPage(browser, product.url, newSessionId());
  await chat.say(
    toScript({ calls: [{ tool: 'ask', id: 'a1', args: { question: 'Well?' } }] }).text,
  );
  await chat.untilStatus('waiting');
  await chat.untilReplyHas('done');
  expect(await chat.tools()).toEqual([{ tool: 'ask', state: 'failed' }]);
  expect(chat.faults).toEqual([]);
});

it.concurrent(
  'a card shows what another agent writes while it works, and folds it afterwards',
  async () => {
    const chat = await openPage(browser, product.url, newSessionId());
    const echo = { tool: 'echo', id: 'e1', args: { value: 'x' } };
    const words = { say: 'Written by the child.', deltas: 20, everyMs: 100 };
    const child = delegate('d1', { calls: [echo] }, words);
    await chat.say(toScript({ calls: [child] }, { say: 'after' }).text);
    const report = chat.at('sub-agent-report');
    await report.getByText('Written by').waitFor();
    expect(await report.textContent()).toContain('Echo done');
    expect((await chat.tools())[0]).toEqual({ tool: 'delegate', state: 'running' });
    await chat.untilReplyHas('after', 30_000);
    expect(await report.isVisible()).toBe(false);
    await chat.page.getByText('What it did').click();
    await report.getByText('Written by the child.').waitFor();
    await chat.page.reload();
    await chat.untilStatus('ready');
    await chat.page.getByText('What it did').click();
    await report.getByText('Written by the child.').waitFor();
    expect(await report.textContent()).toContain('Echo done');
    expect(chat.faults).toEqual([]);
  },
);
