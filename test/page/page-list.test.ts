import { openPage } from '../support/page-driver.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { useOwnUser } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

const product = useOwnUser(useLocalProduct({ hasAccounts: true }));

const script = (...entries: object[]): string => JSON.stringify({ script: entries });

/** Tries to run scripts and to load from elsewhere. */
const HOSTILE = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1"><svg onload="window.hacked = 1">',
  '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
  '[press](javascript:window.hacked=1) [data](data:text/html,<script>1</script>)',
  '![far](https://far.test/pixel.png) <img src="https://far.test/two.png">',
].join('\n\n');

it('the page lists conversations by title, finds them, and opens one', async () => {
  const first = newSessionId();
  const chat = await openPage(product.url, first);
  await chat.say(script({ say: 'marmalade' }));
  await chat.untilReplyHas('marmalade');
  await chat.untilStatus('ready');
  await chat.click('side-new-chat');
  await chat.say(script({ say: 'rhubarb' }));
  await chat.untilReplyHas('rhubarb');

  const entries = chat.at('side-conversation');
  await until('both are listed', async () => (await entries.count()) === 2);
  expect(await entries.first().getAttribute('aria-current')).toBe('page');

  await chat.at('side-search').fill('MARMALADE');
  await until('one is found', async () => (await entries.count()) === 1);
  expect(await entries.getAttribute('data-conversation')).toBe(first);
  await entries.click();
  await chat.untilReplyHas('marmalade');
  expect(new URL(chat.page.url()).searchParams.get('session')).toBe(first);
  await chat.leave();
});

it('a new chat says what its agent does, an opener begins it, and helpers of agents are not offered', async () => {
  const chat = await openPage(product.url, newSessionId(), 'support');
  await chat.page.getByRole('heading', { name: 'Support' }).waitFor();
  await chat.page.getByText('Help desk of a small shop').waitFor();
  expect(await chat.at('agent').locator('option').allTextContents()).toEqual(['Support']);
  const opener = chat.page.locator('.openers button').first();
  await opener.click();
  await opener.waitFor({ state: 'detached' });
  await chat.untilReplyHas('1042');
  await chat.leave();
});

it('thoughts are folded, replies are read as Markdown, and finished calls are one line', async () => {
  const chat = await openPage(product.url);
  const elsewhere: string[] = [];
  chat.page.on('request', (request) => {
    if (!request.url().startsWith(product.url)) elsewhere.push(request.url());
  });
  const echo = (value: number): object => ({
    tool: 'echo',
    id: `c${String(value)}`,
    args: { value },
  });
  await chat.say(
    script(
      { think: 'Plums come first.', calls: [echo(41), echo(42)] },
      { calls: [{ tool: 'boom', id: 'c3', args: { message: 'no luck' } }] },
      { say: '| a | b |\n|---|---|\n| 1 | **two** |\n\n' + HOSTILE },
    ),
  );
  await chat.untilStatus('ready');
  const reply = chat.page.locator('[data-testid=message][data-role=assistant]');
  const expectMarkdown = async (): Promise<void> => {
    await until('a table is shown', async () => (await reply.locator('td').count()) === 2);
    expect(await reply.locator('td strong').textContent()).toBe('two');
    await chat.untilReplyHas('two.png');
    expect(await reply.locator('script, img, svg, iframe').count()).toBe(0);
    expect(await chat.page.evaluate(() => 'hacked' in globalThis)).toBe(false);
    expect(elsewhere).toEqual([]);
  };
  await expectMarkdown();
  expect(await chat.at('used-tools').locator('> summary').textContent()).toContain('Used 2 tools');
  expect(await chat.tools()).toEqual([
    { tool: 'echo', state: 'done' },
    { tool: 'echo', state: 'done' },
    { tool: 'boom', state: 'failed' },
  ]);
  expect(await chat.at('tool-output').last().textContent()).toContain('42');
  expect(await chat.at('tool-error').textContent()).toBe('no luck');
  const thought = chat.at('reasoning').getByText('Plums come first.');
  expect(await thought.isVisible()).toBe(false);
  await chat.at('reasoning').getByText('Thoughts').click();
  await thought.waitFor();
  await chat.page.reload();
  await expectMarkdown();
  await chat.leave();
});
