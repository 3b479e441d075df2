import type { Browser } from 'playwright-core';
import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import { findProblems } from '../support/axe.js';
import { ask } from '../support/lab-run.js';
import { shareBrowser, openPage, type ChatPage } from '../support/page-driver.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

/** The chat page for people who do not see it, or see little of it at once. */
const product = useProduct();
let browser: Browser;
beforeAll(async () => {
  browser = await shareBrowser();
});

const problemsOf = ({ page }: ChatPage): Promise<string[]> => findProblems(page);

it('a new chat, an approval and what was decided have no barriers', async () => {
  const chat = await openPage(browser, product.url, newSessionId(), 'support');
  await chat.untilStatus('ready');
  expect(await problemsOf(chat)).toEqual([]);
  await chat.say(`I want a refund of $20 for order ${EXAMPLE_ORDER_ID}.`);
  await chat.untilStatus('waiting', 30_000);
  expect(await problemsOf(chat)).toEqual([]);
  await chat.click('inbox');
  await chat.at('inbox-session').first().waitFor();
  expect(await problemsOf(chat)).toEqual([]);
  await chat.page.keyboard.press('Escape');
  await chat.at('inbox-session').first().waitFor({ state: 'detached' });
  await chat.at('input-amount').fill('12.5');
  await chat.click('approve');
  await chat.untilReplyHas('$12.50 for order', 30_000);
  expect(await chat.at('decision').textContent()).toMatch(/with changes\..*Amount.*20.*12\.5/);
  await chat.untilStatus('ready', 30_000);
  expect(await problemsOf(chat)).toEqual([]);
  expect(chat.faults).toEqual([]);
});

it('a failed reply says why where it ends, and the state of the agent can be read', async () => {
  const chat = await openPage(browser, product.url, newSessionId());
  const script = [
    ask('remember', { key: 'city', value: 'Basel' }),
    {
      say: '# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n`code`',
      fail: { status: 401, afterDeltas: 1 },
    },
  ];
  await chat.say(JSON.stringify({ script }));
  const log = chat.page.getByRole('log');
  await log.getByTestId('error-line').waitFor();
  await log.getByTestId('regenerate').waitFor();
  expect(await chat.at('error-line').count()).toBe(1);
  expect(await problemsOf(chat)).toEqual([]);
  await chat.page.reload();
  await log.getByTestId('error-line').waitFor();
  await until('the state is offered', () => chat.at('show-state').isVisible());
  await chat.click('show-state');
  expect(await chat.at('state').textContent()).toContain('Basel');
  expect(await problemsOf(chat)).toEqual([]);
  expect(chat.faults).toEqual([]);
});
