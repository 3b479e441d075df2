import { toScript } from '../support/chat-client.js';
import { findBarriers, findOverflow } from '../support/axe.js';
import { runLab } from '../support/lab-run.js';
import { openPage, type ChatPage } from '../support/page-driver.js';
import { signToken } from '../support/people.js';
import { newSessionId, useProduct } from '../support/product.js';
import { startSigningProxy } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

// People, servers and models make mistakes: the page shows plain words and a way on.

const product = useProduct('accounts');
const proxies: Awaited<ReturnType<typeof startSigningProxy>>[] = [];
let ann = '';
let eve = '';
let late = '';

beforeAll(async () => {
  // Other files share the product, so this person needs an inbox without other questions.
  const own = await signToken(newSessionId(), undefined);
  const tokens = [own, await signToken('eve', undefined), 'Bearer x'];
  for (const token of tokens) proxies.push(await startSigningProxy(() => product.url, token));
  [ann = '', eve = '', late = ''] = proxies.map(({ url }) => url);
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

it('the page says that it reconnects while the API is away, and opens when that is back', async () => {
  const chat = await openPage(ann);
  await chat.page.route('**/api/**', (route) => route.abort());
  await chat.page.reload();
  await chat.page.getByText('econnecting').first().waitFor();
  await chat.page.unroute('**/api/**');
  await chat.untilStatus('ready');
  await chat.leave();
});

it('someone whose sign-in has expired reads so, and can try again', async () => {
  const chat = await openPage(late);
  expect(await errorOf(chat)).toContain('You are not signed in.');
  await expectSound(chat);
  await chat.page.route('**/api/**', (route) =>
    route.continue({ url: route.request().url().replace(late, ann) }),
  );
  await chat.click('try-again');
  await chat.untilStatus('ready');
  await chat.leave();
});

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

it('a stream that turns to garbage keeps what came, and the reply can be had', async () => {
  const chat = await openPage(ann);
  await chat.untilStatus('ready');
  let broken = 0;
  await chat.page.route(/\/api\/chat(\/|$|\?)/, async (route) => {
    if (route.request().method() !== 'POST' || broken > 0) return route.continue();
    const response = await route.fetch();
    const body = await response.text();
    broken += 1;
    const half = body.slice(0, body.indexOf('"text-delta"'));
    return route.fulfill({ response, body: `${half}\u0000\n\n<html>data: {"type":` });
  });
  await chat.say(toScript({ say: 'All of it.' }).text);
  await until('it is over', async () => broken === 1 && (await chat.status()) !== 'streaming');
  const retry = chat.at('retry');
  await until('there is a way on', async () => {
    return (
      (await retry.count()) > 0 || (await chat.replies()).at(-1)?.includes('All of it.') === true
    );
  });
  if ((await retry.count()) > 0) await retry.click();
  await chat.untilReplyHas('All of it.');
  expect(await chat.replies()).toHaveLength(1);
  await chat.leave();
});

it('what cannot be read beside a conversation says so, and is there after another try', async () => {
  const chat = await openPage(ann);
  await chat.say(toScript({ calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] }).text);
  await chat.untilStatus('waiting');
  const fault = chat.at('load-fault');
  const list = /\/api\/conversations/;
  await chat.page.route(list, (route) => route.abort());
  await chat.at('side-search').fill('charge');
  expect(await fault.textContent()).toContain('The list could not be read.');
  await chat.page.unroute(list);
  await chat.click('load-again');
  await chat.at('side-conversation').first().waitFor();
  await fault.waitFor({ state: 'detached' });

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

it('an address that names no conversation says so and leads to a new one, as one does that leaves it to the page', async () => {
  const chat = await openPage(ann, '%E0%A4%A');
  await chat.at('no-conversation').waitFor();
  expect(new URL(chat.page.url()).search).toBe('?session=%E0%A4%A&agent=lab');
  await expectSound(chat);
  await chat.click('begin-new-chat');
  await chat.untilStatus('ready');
  const session = (): string | null => new URL(chat.page.url()).searchParams.get('session');
  expect(session()).toMatch(/^[\w-]{36}$/);
  await chat.page.goBack();
  await chat.at('no-conversation').waitFor();
  await chat.page.goto(`${ann}/?&&==#<script>`);
  await chat.untilStatus('ready');
  expect(session()).toMatch(/^[\w-]{36}$/);
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
