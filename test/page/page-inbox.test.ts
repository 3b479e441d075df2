import type { Locator } from 'playwright-core';
import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import { loadSnapshot, toScript } from '../support/chat-client.js';
import { findProblems } from '../support/axe.js';
import { openPage } from '../support/page-driver.js';
import { postJson } from '../support/post-json.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { useOwnUser } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

/** The inbox answers other conversations' questions without opening them. */
const product = useOwnUser(useLocalProduct({ hasAccounts: true }), 'operator');

/** Begins a conversation that waits for a person; returns its id. */
async function waiting(agent: string, content: string): Promise<string> {
  const sessionId = newSessionId();
  const reply = await postJson(`${product.url}/api/chat/${sessionId}?agent=${agent}`, {
    message: { id: 'u1', role: 'user', content },
  });
  await reply.text();
  return sessionId;
}

const call = (tool: string, args: object): string =>
  toScript({ calls: [{ tool, id: 'c1', args }] }).text;

it('the inbox counts and answers questions of every kind, with changes and with a reason', async () => {
  const charges = [1, 2].map((amount) => ({
    tool: 'charge',
    id: `c${String(amount)}`,
    args: { amount, note: 'x'.repeat(200) },
  }));
  const [broken, payment, place, charge] = await Promise.all([
    waiting('support', `My order ${EXAMPLE_ORDER_ID} arrived broken.`),
    waiting('lab', call('charge', { amount: 20 })),
    waiting('lab', call('locate', { question: 'Where are you?' })),
    waiting('lab', toScript({ calls: charges }).text),
  ]);
  const chat = await openPage(product.url, newSessionId(), 'support');
  await until('they are counted', async () =>
    ((await chat.at('inbox').textContent()) ?? '').includes('(5)'),
  );
  expect(await chat.at('to-console').getAttribute('href')).toBe('/console');
  await chat.page.route(/\/api\/sessions/, (route) => route.abort());
  await chat.click('inbox');
  await chat.at('load-fault').waitFor();
  expect(await findProblems(chat.page)).toEqual([]);
  await chat.page.unroute(/\/api\/sessions/);
  await chat.click('load-again');
  const entryOf = (id: string): Locator => chat.page.locator(`[data-session="${id}"]`);
  const untilGone = (id: string): Promise<unknown> =>
    until('it is listed no more', async () => (await entryOf(id).count()) === 0);
  // Snapshots leave out unfinished text.
  const untilStored = (id: string, text: string): Promise<unknown> =>
    until(`it has ${text}`, async () =>
      JSON.stringify((await loadSnapshot(product.url, id)).messages).includes(text),
    );
  await entryOf(charge).getByTestId('deny').nth(1).waitFor();

  const [line, about] = [entryOf(broken).locator('.inbox-from'), entryOf(broken)];
  expect(await line.textContent()).toMatch(/^My order .* arrived broken\..*since/);
  expect(await line.textContent()).not.toContain('support,');
  expect(await about.getByTestId('inbox-deadline').textContent()).toMatch(/^until \d/);
  const waits = entryOf(charge).getByTestId('inbox-deadline').first();
  expect(await waits.textContent()).toContain('waits');
  // Questions of one tool must not share a landmark's name, and the dialog must fit its content.
  expect(await findProblems(chat.page)).toEqual([]);
  await chat.page.setViewportSize({ width: 320, height: 640 });
  const beyond = await chat.page
    .locator('dialog.inbox')
    .evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
  expect(beyond).toBe(0);

  await entryOf(broken).getByTestId('choose-replacement').click();
  await untilGone(broken);
  await untilStored(broken, '"chosen":"replacement"');

  await entryOf(place).getByTestId('client-result').fill('in the kitchen');
  await entryOf(place).getByTestId('give-result').click();
  await untilGone(place);
  await untilStored(place, 'in the kitchen');

  await entryOf(payment).getByTestId('input-amount').fill('12.5');
  await entryOf(payment).getByRole('button', { name: 'Approve with changes' }).click();
  await untilGone(payment);
  await untilStored(payment, '"charged":12.5');

  const denials = entryOf(charge).getByTestId('deny');
  for (const left of [2, 1]) {
    await until('those before it are answered', async () => (await denials.count()) === left);
    await entryOf(charge).getByTestId('answer-reason').first().fill('Not today.');
    await denials.first().click();
  }
  await chat.at('inbox-empty').waitFor();
  await untilStored(charge, 'Not today.');

  await chat.page.keyboard.press('Escape');
  await until('none is counted', async () => (await chat.at('inbox').textContent()) === 'Inbox');
  await chat.leave();
});

it('the inbox opens the conversation that asks, and says there what became of it', async () => {
  const place = await waiting('lab', call('locate', {}));
  const chat = await openPage(product.url);
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
  await chat.leave();
});
