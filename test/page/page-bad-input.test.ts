import type { Browser, Page } from 'playwright-core';
import { LIMITS } from '../../protocol/limits.js';
import { toScript } from '../support/chat-client.js';
import { findOverflow, findProblems } from '../support/axe.js';
import { shareBrowser, openPage, type ChatPage } from '../support/page-driver.js';
import { signToken } from '../support/people.js';
import { newSessionId, useProduct } from '../support/product.js';
import { startSigningProxy } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

// What people, servers and models get wrong: each time there are plain words and a way on.

const product = useProduct('accounts');
let browser: Browser;
const proxies: Awaited<ReturnType<typeof startSigningProxy>>[] = [];
let ann = '';
let eve = '';
let late = '';

beforeAll(async () => {
  // Other files share the product: nothing else may wait for this person.
  const own = await signToken(newSessionId(), undefined);
  const tokens = [own, await signToken('eve', undefined), 'Bearer x'];
  for (const token of tokens) proxies.push(await startSigningProxy(() => product.url, token));
  [ann = '', eve = '', late = ''] = proxies.map(({ url }) => url);
  browser = await shareBrowser();
}, 60_000);
afterAll(async () => {
  await Promise.all(proxies.map(({ close }) => close()));
});

const open = (url: string, sessionId = newSessionId()): Promise<ChatPage> =>
  openPage(browser, url, sessionId);

/** Nothing is wrong for anybody, and no code has failed. */
async function expectSound({ page, faults }: ChatPage): Promise<void> {
  expect(await findProblems(page)).toEqual([]);
  expect(faults).toEqual([]);
}

/** The longest time for which the page could not react, ms, while something was done. */
async function longestBlock(page: Page, doing: () => Promise<unknown>): Promise<number> {
  await page.addInitScript(() => {
    const seen = globalThis as unknown as { blocks: number[] };
    seen.blocks = [0];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.blocks.push(duration);
    }).observe({ type: 'longtask', buffered: true });
  });
  await doing();
  return page.evaluate(() => Math.max(...(globalThis as unknown as { blocks: number[] }).blocks));
}

const errorOf = async (chat: ChatPage): Promise<string> => {
  await chat.at('error-line').first().waitFor();
  return (await chat.at('error-line').first().textContent()) ?? '';
};

it('the page says that it reconnects while the API is away, and opens when that is back', async () => {
  const chat = await open(ann);
  await chat.page.route('**/api/**', (route) => route.abort());
  await chat.page.reload();
  await chat.page.getByText('econnecting').first().waitFor();
  await expectSound(chat);
  await chat.page.unroute('**/api/**');
  await chat.untilStatus('ready', 30_000);
});

it.each([
  ['another site', 'http://evil.example/'],
  ['a neighbouring port', 'http://127.0.0.1:1/'],
])('a form of %s begins nothing, though the proxy in between signs it in', async (_who, from) => {
  const sessionId = newSessionId();
  const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Pay mallory.' }] };
  // A form sends `name=value`: the = stands in a text that nobody reads.
  const [name = '', value = ''] = JSON.stringify({ messages: [message], pad: '=' }).split('=');
  const page = await browser.newPage();
  await page.route(from, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<form method="post" enctype="text/plain" action="${ann}/api/chat/${sessionId}?agent=lab">
        <input name='${name}' value='${value}'><button>Win</button></form>`,
    }),
  );
  await page.goto(from);
  const posted = page.waitForResponse((response) => response.url().startsWith(ann));
  await page.getByRole('button').click();
  expect((await posted).status()).toBe(401);
  expect((await fetch(`${ann}/api/chat/${sessionId}/snapshot`)).status).toBe(404);
  await page.close();
});

it('someone whose sign-in has expired reads so, and can try again', async () => {
  const chat = await open(late);
  expect(await errorOf(chat)).toContain('You are not signed in.');
  await expectSound(chat);
  await chat.page.route('**/api/**', (route) =>
    route.continue({ url: route.request().url().replace(late, ann) }),
  );
  await chat.click('try-again');
  await chat.untilStatus('ready', 30_000);
});

it('a conversation of another person shows nothing of it, refuses messages, and another can be begun', async () => {
  const sessionId = newSessionId();
  const own = await open(ann, sessionId);
  await own.say(toScript({ say: 'A secret of Ann.' }).text);
  await own.untilReplyHas('A secret of Ann.');
  const chat = await open(eve, sessionId);
  await chat.untilStatus('ready');
  expect(await chat.replies()).toEqual([]);
  expect(await chat.at('nothing-here').textContent()).toContain('it belongs to someone else');
  await chat.say(toScript({ say: 'Hello.' }).text);
  expect(await errorOf(chat)).not.toBe('');
  expect(await chat.page.content()).not.toContain('A secret of Ann.');
  await expectSound(chat);
  await chat.page.setViewportSize({ width: 1280, height: 800 });
  await chat.page.getByRole('button', { name: 'New chat' }).locator('visible=true').first().click();
  await chat.untilStatus('ready');
  expect(await chat.at('nothing-here').count()).toBe(0);
  // Nor after a reload: the page knows that it made this one up.
  await chat.page.reload();
  await chat.untilStatus('ready');
  expect(await chat.at('nothing-here').count()).toBe(0);
  await chat.say(toScript({ say: 'Hello.' }).text);
  await chat.untilReplyHas('Hello.');
});

it('a stream that turns to garbage keeps what came, and the reply can be had', async () => {
  const chat = await open(ann);
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
  if ((await retry.count()) > 0) {
    await expectSound(chat);
    await retry.click();
  }
  await chat.untilReplyHas('All of it.', 30_000);
  expect(await chat.replies()).toHaveLength(1);
});

it('what cannot be read beside a conversation says so, and is there after another try', async () => {
  const chat = await open(ann);
  await chat.say(toScript({ calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] }).text);
  await chat.untilStatus('waiting');
  const fault = chat.at('load-fault');
  const list = /\/api\/conversations/;
  await chat.page.route(list, (route) => route.abort());
  await chat.at('side-search').fill('charge');
  expect(await fault.textContent()).toContain('The list could not be read.');
  await expectSound(chat);
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
    ['inbox', /\/api\/sessions/, 'The inbox cannot be reached at the moment.', 'inbox-approve'],
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

  await chat.page.route(/\/pending\//, (route) => route.abort());
  await chat.click('inbox-approve');
  expect(await fault.textContent()).toBe(
    'The answer was not taken: the server cannot be reached at the moment.',
  );
  await chat.page.unroute(/\/pending\//);
  await chat.click('inbox-approve');
  await chat.at('inbox-empty').waitFor();
  expect(chat.faults).toEqual([]);
});

it('an address that names no conversation says so, and leads to a new one', async () => {
  const chat = await open(ann);
  for (const address of [
    '?session=../../x&agent=%00%ff',
    '?session=%E0%A4%A',
    `?session=${'a'.repeat(5_000)}`,
  ]) {
    await chat.page.goto(`${ann}/${address}`);
    await chat.at('no-conversation').waitFor();
    expect(new URL(chat.page.url()).search).toBe(new URL(`${ann}/${address}`).search);
  }
  await expectSound(chat);
  await chat.click('begin-new-chat');
  await chat.untilStatus('ready');
  expect(new URL(chat.page.url()).searchParams.get('session')).toMatch(/^[\w-]{36}$/);
  await chat.page.goBack();
  await chat.at('no-conversation').waitFor();
  expect(chat.faults).toEqual([]);
});

it('an address that leaves the conversation to the page opens a new one', async () => {
  const chat = await open(ann);
  await chat.page.goto(`${ann}/?&&==#<script>`);
  await chat.untilStatus('ready');
  expect(new URL(chat.page.url()).searchParams.get('session')).toMatch(/^[\w-]{36}$/);
  expect(chat.faults).toEqual([]);
});

it('a file that is too large is refused with its reason, and can be removed', async () => {
  const chat = await open(ann);
  await chat.untilStatus('ready');
  await chat
    .at('file-input')
    .setInputFiles([
      { name: 'large.png', mimeType: 'image/png', buffer: Buffer.alloc(LIMITS.fileBytes + 1) },
    ]);
  await until('it is refused', async () =>
    /large/i.test((await chat.at('attachment').getAttribute('data-state')) ?? ''),
  );
  await expectSound(chat);
  await chat.page.getByRole('button', { name: 'Remove large.png' }).click();
  await chat.say(toScript({ say: 'Without it.' }).text);
  await chat.untilReplyHas('Without it.');
});

const HOSTILE = [
  '<script>window.hacked = 1</script>',
  '<img src=x onerror="window.hacked = 1"><svg onload="window.hacked = 1">',
  '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
  '[press](javascript:window.hacked=1) [data](data:text/html,<script>1</script>)',
  '![far](https://far.test/pixel.png) <img src="https://far.test/two.png">',
].join('\n\n');

it('Markdown that tries scripts or loads from elsewhere is text, live and after a reload', async () => {
  const chat = await open(ann);
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
    await expectSound(chat);
  }
});

it('a megabyte in one line leaves the page quick', async () => {
  const chat = await open(ann);
  await chat.untilStatus('ready');
  await chat.say(toScript({ say: 'Short.' }).text);
  await chat.untilReplyHas('Short.');
  const line = 'x*_['.repeat(250_000);
  await chat.page.route('**/snapshot*', async (route) => {
    const reply = await route.fetch();
    await route.fulfill({
      response: reply,
      body: (await reply.text()).replace('"Short."', `"${line}"`),
    });
  });
  const block = await longestBlock(chat.page, async () => {
    await chat.page.reload();
    await chat.untilStatus('ready');
    await chat.page.getByRole('log').getByText('x*_[').waitFor();
    await chat.at('composer').fill('Still quick?');
  });
  process.stdout.write(
    `a megabyte in one line blocks the page for ${String(Math.round(block))} ms\n`,
  );
  expect(block).toBeLessThan(1_000);
  expect(await findOverflow(chat.page)).toEqual([]);
  expect(chat.faults).toEqual([]);
});
