import { toScript } from '../support/chat-client.js';
import { findBarriers, findOverflow } from '../support/axe.js';
import { runLab } from '../support/lab-run.js';
import { openPage, type ChatPage } from '../support/page-driver.js';
import { signToken } from '../support/people.js';
import { newSessionId, useProduct } from '../support/product.js';
import { startSigningProxy } from '../support/signing-proxy.js';

// People, servers and models make mistakes: the page shows plain words and a way on.

const product = useProduct('accounts');
const proxies: Awaited<ReturnType<typeof startSigningProxy>>[] = [];
let ann = '';
let eve = '';

beforeAll(async () => {
  // Other files share the product, so this person needs an inbox without other questions.
  const own = await signToken(newSessionId(), undefined);
  const tokens = [own, await signToken('eve', undefined)];
  for (const token of tokens) proxies.push(await startSigningProxy(() => product.url, token));
  [ann = '', eve = ''] = proxies.map(({ url }) => url);
}, 60_000);
afterAll(async () => {
  await Promise.all(proxies.map(({ close }) => close()));
});

/** Expects that the page has no barriers and no overflow at a phone's size. */
async function expectSound({ page }: ChatPage): Promise<void> {
  await page.setViewportSize({ width: 320, height: 800 });
  expect([...(await findBarriers(page)), ...(await findOverflow(page))]).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
}

const errorOf = async (chat: ChatPage): Promise<string> => {
  await chat.at('error-line').first().waitFor();
  return (await chat.at('error-line').first().textContent()) ?? '';
};

it('a conversation of another person shows nothing of it, refuses messages, and another can be begun', async () => {
  const sessionId = newSessionId();
  await runLab({ url: ann }, [{ say: 'A secret of Ann.' }], sessionId);
  const chat = await openPage(eve, sessionId);
  await chat.untilStatus('ready');
  expect(await chat.replies()).toEqual([]);
  expect(await chat.at('nothing-here').textContent()).toContain('it belongs to someone else');
  await chat.say(toScript({ say: 'Hello.' }).text);
  expect(await errorOf(chat)).not.toBe('');
  expect(await chat.page.content()).not.toContain('A secret of Ann.');
  await expectSound(chat);
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

it('what cannot be read beside a conversation says so, and is there after another try', async () => {
  const chat = await openPage(ann);
  await chat.say(toScript({ calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] }).text);
  await chat.untilStatus('waiting');
  const fault = chat.at('load-fault');
  for (const [button, path, sentence, what] of [
    [
      'branch',
      /\/checkpoints/,
      'The list of steps cannot be reached at the moment.',
      'branch-from',
    ],
    ['inbox', /\/api\/sessions/, 'The inbox cannot be reached at the moment.', 'inbox-session'],
  ] as const) {
    await chat.page.route(path, (route) => route.abort());
    await chat.click(button);
    expect(await fault.textContent()).toContain(sentence);
    expect(await chat.page.getByRole('dialog').textContent()).not.toMatch(/no step|Nothing does/);
    await expectSound(chat);
    await chat.page.unroute(path);
    await chat.click('load-again');
    await chat.at(what).first().waitFor();
    await fault.waitFor({ state: 'detached' });
    if (button === 'branch') await chat.page.keyboard.press('Escape');
  }

  const approve = chat.page.getByRole('dialog').getByTestId('approve');
  await chat.page.route(/\/pending\//, (route) => route.abort());
  await approve.click();
  expect(await fault.textContent()).toBe(
    'The answer was not taken: the server cannot be reached at the moment.',
  );
  await chat.page.unroute(/\/pending\//);
  await approve.click();
  await chat.at('inbox-empty').waitFor();
  await chat.leave();
});

const HOSTILE = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1"><svg onload="window.hacked = 1">',
  '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
  '[press](javascript:window.hacked=1) [data](data:text/html,<script>1</script>)',
  '![far](https://far.test/pixel.png) <img src="https://far.test/two.png">',
].join('\n\n');

it('Markdown that tries scripts or loads from elsewhere is text, live and after a reload', async () => {
  const chat = await openPage(ann);
  const asked: string[] = [];
  chat.page.on('request', (request) => asked.push(request.url()));
  await chat.say(toScript({ say: HOSTILE }).text);
  await chat.untilStatus('ready');
  for (const isReloaded of [false, true]) {
    if (isReloaded) await chat.page.reload();
    await chat.untilReplyHas('onerror');
    for (const link of await chat.page.getByRole('log').getByRole('link').all())
      expect((await link.getAttribute('href')) ?? '').not.toMatch(/^(javascript|data):/);
    expect(await chat.page.evaluate(() => 'hacked' in globalThis)).toBe(false);
    expect(asked.filter((url) => !url.startsWith(ann))).toEqual([]);
  }
  await expectSound(chat);
  await chat.leave();
});
