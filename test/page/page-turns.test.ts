import type { Route } from 'playwright-core';
import { findOverflow } from '../support/axe.js';
import { toScript } from '../support/chat-client.js';
import { openPage, type ChatPage } from '../support/page-driver.js';
import { useLocalProduct } from '../support/local-product.js';
import { until } from '../support/until.js';

/** People send messages during a reply, and take turns up again. */
const WORDS = 'This reply takes its time, so that there is some to say something else.';
/** A reply that runs until someone stops it. */
const held = { say: WORDS, calls: [{ tool: 'sleep', id: 's1', args: { ms: 60_000 } }] };

const product = useLocalProduct();

async function openBusy(): Promise<ChatPage> {
  const chat = await openPage(product.url);
  await chat.say(toScript(held).text);
  await chat.untilReplyHas(WORDS);
  return chat;
}

async function sayBeside(chat: ChatPage, text: string, mode?: string): Promise<void> {
  await chat.at('composer').fill(text);
  if (mode !== undefined) await chat.at('when-busy').selectOption(mode);
  await chat.click('send');
}

it('the page queues messages, edits one, removes one and stops the reply for one that cannot wait', async () => {
  const chat = await openBusy();
  await sayBeside(chat, 'one');
  await sayBeside(chat, 'two');
  await until('both wait', async () => (await chat.at('queued').count()) === 2);
  await chat.at('edit-queued').first().click();
  await chat.at('queued-draft').fill(toScript({ say: 'To the changed one.' }).text);
  await chat.click('save-queued');
  await until('it is changed', async () =>
    ((await chat.at('queued').first().textContent()) ?? '').includes('changed one'),
  );
  await chat.at('remove-queued').last().click();
  await until('one is left', async () => (await chat.at('queued').count()) === 1);
  await sayBeside(chat, toScript({ say: 'Here I am.' }).text, 'interrupt');
  const answers = [WORDS, 'Here I am.', 'To the changed one.'];
  await until('all are answered', async () => (await chat.replies()).length === answers.length);
  await chat.untilReplyHas('To the changed one.');
  await chat.untilStatus('ready');
  expect(await chat.replies()).toEqual(answers);
  expect(await chat.at('queued').count()).toBe(0);
  await chat.leave();
});

it('a message that waits for the next step is shown whole on a phone, keeps its lines when it is changed, and Escape leaves it as it was', async () => {
  const chat = await openBusy();
  await chat.page.setViewportSize({ width: 320, height: 700 });
  await chat.at('composer').fill('Beside Stop and Send there is room for words.');
  expect((await chat.at('composer').boundingBox())?.width).toBeGreaterThan(200);
  const words = `https://shop.test/${'orders'.repeat(20)} and\nthe rest of it`;
  await sayBeside(chat, words, 'steer');
  const text = chat.at('queued').locator('.queued-text');
  await text.waitFor();
  expect(await chat.at('queued').textContent()).toContain('goes into the next step');
  expect(await findOverflow(chat.page)).toEqual([]);
  const cut = await text.evaluate(
    (shown) => shown.scrollWidth > shown.clientWidth + 1 || shown.clientHeight < 40,
  );
  expect(cut).toBe(false);
  for (const button of ['edit-queued', 'remove-queued']) {
    const box = await chat.at(button).boundingBox();
    expect((box?.x ?? 320) + (box?.width ?? 0)).toBeLessThanOrEqual(320);
  }

  await chat.click('edit-queued');
  await until('it can be written in', () => chat.at('queued-draft').isVisible());
  expect(await findOverflow(chat.page)).toEqual([]);
  expect(await chat.at('queued-draft').inputValue()).toBe(words);
  await chat.page.keyboard.type('!');
  await chat.page.keyboard.press('Escape');
  expect(await text.textContent()).toBe(words);
  await until('the keyboard is back', () =>
    chat.at('edit-queued').evaluate((button) => button === document.activeElement),
  );
  await chat.page.keyboard.press('Enter');
  await chat.page.keyboard.type(' three');
  await chat.page.keyboard.press('Enter');
  await until('it is changed', async () => (await text.textContent()) === `${words} three`);
  await chat.leave();
});

it('the page repeats a turn, whether it completed or failed, and continues with the next message', async () => {
  const chat = await openPage(product.url);
  /** Keeps the request back until the page shows that it repeats the turn. */
  const regenerate = async (what: string, isShown: () => Promise<boolean>): Promise<void> => {
    let hold!: (route: Route) => void;
    const request = new Promise<Route>((resolve) => {
      hold = resolve;
    });
    await chat.page.route('**/api/chat', hold, { times: 1 });
    await chat.click('regenerate');
    await until(what, isShown);
    await (await request).continue();
  };
  await chat.say(toScript({ say: 'Always the same.' }).text);
  await chat.untilReplyHas('Always the same.');
  await chat.untilStatus('ready');
  await regenerate('it is being written again', async () => {
    const [reply = ''] = await chat.replies();
    return reply !== 'Always the same.';
  });
  await chat.untilReplyHas('Always the same.');
  expect(await chat.replies()).toHaveLength(1);

  await chat.say(toScript({ say: 'Half', fail: { status: 400, afterDeltas: 1 } }).text);
  await until('the error is shown', () => chat.at('error-line').isVisible());
  await until('it can be tried again', async () =>
    ((await chat.at('regenerate').textContent()) ?? '').includes('Try again'),
  );
  await regenerate('the error is gone', async () => (await chat.at('error-line').count()) === 0);
  await until('it failed again', () => chat.at('error-line').isVisible());
  await chat.say(toScript({ say: 'All is well.' }).text);
  await chat.untilReplyHas('All is well.');
  expect(await chat.at('error-line').count()).toBe(0);
  await chat.leave();
});

it('the page branches a conversation from a step of this one', async () => {
  const chat = await openPage(product.url);
  await chat.say(toScript({ say: 'First.' }).text);
  await chat.untilReplyHas('First.');
  await chat.untilStatus('ready');
  await chat.say(toScript({ say: 'Second.' }).text);
  await chat.untilReplyHas('Second.');
  await chat.untilStatus('ready');
  const before = chat.page.url();
  await chat.click('branch');
  await until('both steps are listed', async () => (await chat.at('branch-from').count()) >= 2);
  // The list shows each step's text and time.
  const steps = await chat.at('branch-from').allTextContents();
  expect(steps).toEqual([
    expect.stringMatching(/^Second\..*Reply 2, step 1,.*\d{4}.*\d:\d\d/),
    expect.stringMatching(/^First\..*Reply 1, step 1,.*\d{4}.*\d:\d\d/),
  ]);
  await chat.at('branch-from').last().click();
  await until('the copy is shown', () => Promise.resolve(chat.page.url() !== before));
  await until(
    'it has the first reply only',
    async () => JSON.stringify(await chat.replies()) === JSON.stringify(['First.']),
  );
  await chat.say(toScript({ say: 'Another second.' }).text);
  await chat.untilReplyHas('Another second.');
  await chat.page.goBack();
  await until(
    'the first one is as it was',
    async () => JSON.stringify(await chat.replies()) === JSON.stringify(['First.', 'Second.']),
  );
  await chat.leave();
});
