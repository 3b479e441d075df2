import { EXAMPLE_ORDER_ID } from '../../examples/support/shop.js';
import { findProblems } from '../support/axe.js';
import { ask } from '../support/lab-run.js';
import { openPage, type ChatPage } from '../support/page-driver.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { until } from '../support/until.js';

/** The chat page for people who see little or nothing of it. */
const product = useLocalProduct();

const problemsOf = ({ page }: ChatPage): Promise<string[]> => findProblems(page);

it('a new chat, an approval whose input a person changes and what was decided have no barriers', async () => {
  const chat = await openPage(product.url, newSessionId(), 'support');
  await chat.untilStatus('ready');
  expect(await problemsOf(chat)).toEqual([]);
  await chat.say(`I want a refund of $20 for order ${EXAMPLE_ORDER_ID}.`);
  await chat.untilStatus('waiting');
  // The page shows the tool's title by its author and the amount's currency.
  await chat.page.getByText('Refund an order', { exact: true }).waitFor();
  await chat.page.getByText('$', { exact: true }).waitFor();
  expect(await problemsOf(chat)).toEqual([]);
  await chat.at('input-amount').fill('-1');
  await chat.click('approve');
  expect(await chat.page.locator('input:invalid').getAttribute('data-testid')).toBe('input-amount');
  expect(await chat.status()).toBe('waiting');
  await chat.at('input-amount').fill('12.5');
  await chat.click('approve');
  await chat.untilReplyHas('changed the amount; I had asked for $20.00');
  await chat.untilReplyHas('$12.50 for order');
  expect(await chat.at('decision').textContent()).toMatch(/with changes\..*Amount.*20.*12\.5/);
  await chat.untilStatus('ready');
  expect(await problemsOf(chat)).toEqual([]);
  await chat.page.reload();
  await chat.untilStatus('ready');
  expect(await chat.at('tool-changed').textContent()).toContain('12.5');
  expect(await chat.replies()).toHaveLength(1);
  await chat.leave();
});

it('a failed reply says why where it ends, and the state of the agent can be read', async () => {
  const chat = await openPage(product.url);
  const table = `| ${'wide | '.repeat(12)}\n|${'---|'.repeat(12)}\n`;
  const script = [
    ask('remember', { key: 'city', value: 'Basel' }),
    {
      say: `# A\n\n${table}\n\`code\` ${'x*_['.repeat(50)}`,
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
  await chat.leave();
});

it('an address without a conversation, steps that cannot be read and an expired sign-in have no barriers', async () => {
  const chat = await openPage(product.url, '%E0%A4%A');
  await chat.at('no-conversation').waitFor();
  expect(await problemsOf(chat)).toEqual([]);
  await chat.click('begin-new-chat');
  await chat.untilStatus('ready');
  await chat.say('Hello.');
  await chat.page.route(/\/checkpoints/, (route) => route.abort());
  await chat.click('branch');
  await chat.page.getByRole('dialog').getByTestId('load-fault').waitFor();
  expect(await problemsOf(chat)).toEqual([]);
  await chat.page.keyboard.press('Escape');

  await chat.page.goBack();
  await chat.at('no-conversation').waitFor();
  const problem = { error: 'You are not signed in.', code: 'unauthorized' };
  await chat.page.route('**/api/**', (route) => route.fulfill({ status: 401, json: problem }));
  await chat.page.goForward();
  await chat.at('try-again').waitFor();
  expect(await chat.at('error-line').first().textContent()).toContain(problem.error);
  expect(await problemsOf(chat)).toEqual([]);
  await chat.leave();
});
