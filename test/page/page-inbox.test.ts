import type { Browser, Locator } from 'playwright-core';
import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import { loadSnapshot, toScript } from '../support/chat-client.js';
import { findBarriers, findOverflow } from '../support/axe.js';
import { shareBrowser, openPage } from '../support/page-driver.js';
import { newSessionId, useProduct } from '../support/product.js';
import { readSse } from '../support/sse-reader.js';
import { until } from '../support/until.js';

/** What waits in other conversations, answered without opening them. */
const product = useProduct({});
let browser: Browser;
beforeAll(async () => {
  browser = await shareBrowser();
}, 60_000);

/** A conversation that waits for a person. */
async function waiting(agent: string, text: string): Promise<string> {
  const sessionId = newSessionId();
  const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text }] };
  const stream = await readSse(`${product.url}/api/chat/${sessionId}?agent=${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: sessionId, messages: [message] }),
  });
  await stream.done;
  return sessionId;
}

const call = (tool: string, args: object): string =>
  toScript({ calls: [{ tool, id: 'c1', args }] }).text;

it('the inbox counts and answers questions of every kind, with changes and with a reason', async () => {
  const broken = await waiting('support', `My order ${EXAMPLE_ORDER_ID} arrived broken.`);
  const refund = await waiting('support', `I want a refund of $20 for order ${EXAMPLE_ORDER_ID}.`);
  const place = await waiting('lab', call('locate', { question: 'Where are you?' }));
  const charge = await waiting('lab', call('charge', { amount: 5 }));
  const chat = await openPage(browser, product.url, newSessionId(), 'support');
  await until('they are counted', async () =>
    ((await chat.at('inbox').textContent()) ?? '').includes('(4)'),
  );
  expect(await chat.at('to-console').getAttribute('href')).toBe('/console');
  await chat.click('inbox');
  const entryOf = (id: string): Locator => chat.page.locator(`[data-session="${id}"]`);
  const untilGone = (id: string): Promise<unknown> =>
    until('it is listed no more', async () => (await entryOf(id).count()) === 0);
  // A snapshot leaves out what is still being written.
  const untilStored = (id: string, text: string): Promise<unknown> =>
    until(`it has ${text}`, async () =>
      JSON.stringify((await loadSnapshot(product.url, id)).messages).includes(text),
    );
  await entryOf(charge).waitFor();

  const [line, about] = [entryOf(broken).locator('.inbox-from'), entryOf(broken)];
  expect(await line.textContent()).toMatch(/^My order .* arrived broken\..*since/);
  expect(await line.textContent()).not.toContain('support,');
  expect(await about.getByTestId('inbox-deadline').textContent()).toMatch(/^until \d/);
  expect(await entryOf(charge).getByTestId('inbox-deadline').textContent()).toContain('waits');
  expect([...(await findBarriers(chat.page)), ...(await findOverflow(chat.page))]).toEqual([]);

  await entryOf(broken).getByTestId('choose-replacement').click();
  await untilGone(broken);
  await untilStored(broken, '"chosen":"replacement"');

  await entryOf(place).getByTestId('client-result').fill('in the kitchen');
  await entryOf(place).getByTestId('give-result').click();
  await untilGone(place);
  await untilStored(place, 'in the kitchen');

  await entryOf(refund).getByTestId('input-amount').fill('12.5');
  await entryOf(refund).getByRole('button', { name: 'Approve with changes' }).click();
  await untilGone(refund);
  await untilStored(refund, '$12.50');

  await entryOf(charge).getByTestId('inbox-reason').fill('Not today.');
  await entryOf(charge).getByTestId('inbox-deny').click();
  await chat.at('inbox-empty').waitFor();
  await untilStored(charge, 'Not today.');

  await chat.page.keyboard.press('Escape');
  await until('none is counted', async () => (await chat.at('inbox').textContent()) === 'Inbox');
  expect(chat.faults).toEqual([]);
});

it('the inbox opens the conversation that asks, and says there what became of it', async () => {
  const place = await waiting('lab', call('locate', {}));
  const chat = await openPage(browser, product.url, newSessionId());
  await chat.click('inbox');
  const entry = chat.page.locator(`[data-session="${place}"]`);
  await entry.getByTestId('refuse-result').waitFor();
  await entry.getByTestId('inbox-open').click();
  await chat.untilStatus('waiting');
  expect(new URL(chat.page.url()).searchParams.get('session')).toBe(place);
  await chat.click('inbox');
  await entry.getByTestId('refuse-result').click();
  await chat.at('inbox-empty').waitFor();
  await chat.page.keyboard.press('Escape');
  await until('the call has failed', async () =>
    (await chat.tools()).some(({ state }) => state === 'failed'),
  );
  expect(chat.faults).toEqual([]);
});

it('on a phone the inbox is as wide as its dialog, and questions by one tool are no landmarks of one name', async () => {
  const charges = [1, 2].map((amount) => ({
    tool: 'charge',
    id: `c${String(amount)}`,
    args: { amount, note: 'x'.repeat(200) },
  }));
  const asked = await waiting('lab', toScript({ calls: charges }).text);
  const context = await browser.newContext({ viewport: { width: 320, height: 640 } });
  const page = await context.newPage();
  await page.goto(`${product.url}/?session=${asked}`);
  await page.getByTestId('more').click();
  await page.getByTestId('inbox').click();
  await page.getByTestId('inbox-approve').nth(1).waitFor();
  const beyond = await page
    .locator('dialog.inbox')
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  expect(beyond).toBe(0);
  expect(await findBarriers(page)).toEqual([]);
  await context.close();
});
