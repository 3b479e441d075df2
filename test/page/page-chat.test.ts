import { Client, Connection } from '@temporalio/client';
import type { Browser } from 'playwright-core';
import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import { loadSnapshot, toScript } from '../support/chat-client.js';
import { shareBrowser, openPage } from '../support/page-driver.js';
import { newSessionId, sharedTemporal, TEMPORAL_UI, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const LONG = 'Each reader of this page sees it grow, and sees all of it once. '.repeat(4).trim();
const slowly = { say: LONG, deltas: 80, everyMs: 40 };
/** Runs until it is stopped. */
const held = { ...slowly, calls: [{ tool: 'sleep', id: 's1', args: { ms: 60_000 } }] };
const charge = { tool: 'charge', id: 'c1', args: { amount: 5 } };

const product = useProduct();
let browser: Browser;
beforeAll(async () => {
  browser = await shareBrowser();
});

it.concurrent('the page shows text as it arrives, and links to the run', async () => {
  const sessionId = newSessionId();
  const chat = await openPage(browser, product.url, sessionId);
  await chat.untilStatus('ready');
  await chat.say(toScript(slowly).text);
  const lengths = new Set<number>();
  await until('the whole text', async () => {
    const text = (await chat.replies()).at(-1) ?? '';
    lengths.add(text.length);
    return text === LONG;
  });
  expect(lengths.size).toBeGreaterThan(2);
  await chat.untilStatus('ready');
  expect(await chat.at('send').isVisible()).toBe(true);

  const href = (await chat.at('run-link').getAttribute('href')) ?? '';
  const { run } = await loadSnapshot(product.url, sessionId);
  const prefix = `${TEMPORAL_UI}/namespaces/default/workflows/`;
  expect(href).toBe(`${prefix}${encodeURIComponent(`run:${run?.runId ?? ''}`)}`);
  const connection = await Connection.connect({ address: sharedTemporal() });
  try {
    const workflowId = decodeURIComponent(href.slice(prefix.length));
    const { type } = await new Client({ connection }).workflow.getHandle(workflowId).describe();
    expect(type).toBe('agentRun');
  } finally {
    await connection.close();
  }
  expect(chat.faults).toEqual([]);
});

it.concurrent('the page shows the input and the result of tools', async () => {
  const chat = await openPage(browser, product.url, newSessionId());
  await chat.say(
    toScript({
      calls: [
        { tool: 'echo', id: 'c1', args: { value: 'forty-two' } },
        { tool: 'boom', id: 'c2', args: { message: 'no luck' } },
      ],
    }).text,
  );
  await chat.untilReplyHas('done');
  expect(await chat.tools()).toEqual([
    { tool: 'echo', state: 'done' },
    { tool: 'boom', state: 'failed' },
  ]);
  expect(await chat.at('tool-output').textContent()).toContain('forty-two');
  expect(await chat.at('tool-error').textContent()).toBe('no luck');
  expect(chat.faults).toEqual([]);
});

it.concurrent('the page asks for an approval, and accepts a yes', async () => {
  const sessionId = newSessionId();
  const chat = await openPage(browser, product.url, sessionId);
  await chat.say(toScript({ say: 'May I?', calls: [charge] }).text);
  await chat.untilStatus('waiting');
  expect(await chat.tools()).toEqual([{ tool: 'charge', state: 'waiting' }]);
  await chat.click('approve');
  // The page draws a reply that has ended once more.
  await until('the reply', async () => (await chat.replies()).join() === 'May I?done');
  expect(await chat.tools()).toEqual([{ tool: 'charge', state: 'done' }]);
  expect(await chat.at('approval-card').count()).toBe(0);
});

it.concurrent('the page accepts a no, with its reason', async () => {
  const sessionId = newSessionId();
  const chat = await openPage(browser, product.url, sessionId);
  await chat.say(toScript({ calls: [charge] }, { say: 'Then not.' }).text);
  await chat.untilStatus('waiting');
  await chat.at('deny-reason').fill('too much');
  await chat.click('deny');
  await chat.untilReplyHas('Then not.');
  expect(await chat.tools()).toEqual([{ tool: 'charge', state: 'denied' }]);
  expect(JSON.stringify((await loadSnapshot(product.url, sessionId)).messages)).toContain(
    'too much',
  );
});

it.concurrent('the page shows the whole reply after a reload in the middle of it', async () => {
  const chat = await openPage(browser, product.url, newSessionId());
  await chat.say(toScript(held).text);
  await chat.untilReplyHas('Each reader');
  await chat.page.reload();
  await until('the whole text', async () => (await chat.replies()).at(-1) === LONG);
  await chat.click('stop');
  await chat.untilStatus('ready');
  expect(await chat.replies()).toEqual([LONG]);
  await chat.page.reload();
  await until('the whole text again', async () => (await chat.replies()).at(-1) === LONG);
  expect(await chat.replies()).toEqual([LONG]);
  expect(chat.faults).toEqual([]);
});

it.concurrent('the page asks again after a reload while an approval waits', async () => {
  const chat = await openPage(browser, product.url, newSessionId());
  await chat.say(toScript({ say: 'May I?', calls: [charge] }).text);
  await chat.untilStatus('waiting');
  await chat.page.reload();
  await chat.untilStatus('waiting');
  expect(await chat.replies()).toEqual(['May I?']);
  await chat.click('approve');
  await chat.untilReplyHas('done');
  expect(await chat.replies()).toEqual(['May I?done']);
});

it.concurrent('the page stops a reply, and continues with the next message', async () => {
  const chat = await openPage(browser, product.url, newSessionId());
  await chat.say(toScript({ ...slowly, everyMs: 400 }).text);
  await chat.untilReplyHas('Each');
  await chat.click('stop');
  await chat.untilStatus('ready');
  const [kept = ''] = await chat.replies();
  expect(LONG.startsWith(kept)).toBe(true);
  expect(kept.length).toBeLessThan(LONG.length);
  await chat.say(toScript({ say: 'Here again.' }).text);
  await chat.untilReplyHas('Here again.');
  expect(await chat.replies()).toEqual([kept, 'Here again.']);
});

it.concurrent('the page shows why a run failed, and continues with the next message', async () => {
  const chat = await openPage(browser, product.url, newSessionId());
  await chat.say(toScript({ say: 'Half', fail: { status: 400, afterDeltas: 1 } }).text);
  await until('the error is shown', () => chat.at('error-line').isVisible());
  await chat.say(toScript({ say: 'All is well.' }).text);
  await chat.untilReplyHas('All is well.');
  expect(await chat.at('error-line').count()).toBe(0);
});

it.concurrent('a customer gets a refund at the help desk', async () => {
  const chat = await openPage(browser, product.url, newSessionId(), 'support');
  await chat.say(`I want a refund for order ${EXAMPLE_ORDER_ID}, please.`);
  await chat.untilStatus('waiting', 30_000);
  await chat.click('approve');
  await chat.untilReplyHas('the refund was approved', 30_000);
  expect((await chat.tools()).map(({ state }) => state)).toEqual(['done', 'done']);
  expect(await chat.replies()).toHaveLength(1);
});
