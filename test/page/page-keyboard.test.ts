import { findOverflow } from '../support/axe.js';
import { toScript } from '../support/chat-client.js';
import { openPage, type ChatPage } from '../support/page-driver.js';
import { useLocalProduct } from '../support/local-product.js';
import { until } from '../support/until.js';

/** The page for people who use only a keyboard or avoid motion. */
const product = useLocalProduct();

/** Returns the focused element's test id. */
const focused = ({ page }: ChatPage): Promise<unknown> =>
  page.evaluate('document.activeElement?.getAttribute("data-testid")');
const untilFocused = (chat: ChatPage, testId: string): Promise<unknown> =>
  until(`${testId} has the focus`, async () => (await focused(chat)) === testId);

async function onPhone(): Promise<ChatPage> {
  const chat = await openPage(product.url);
  await chat.page.setViewportSize({ width: 320, height: 700 });
  await chat.untilStatus('ready');
  return chat;
}

it('the list of conversations takes the focus, keeps it, and gives it back', async () => {
  const chat = await onPhone();
  await chat.at('list').focus();
  await chat.page.keyboard.press('Enter');
  await untilFocused(chat, 'side-new-chat');
  for (let n = 0; n < 12; n += 1) {
    await chat.page.keyboard.press('Tab');
    const isBehind = await chat.page.evaluate(
      'document.querySelector(".page").contains(document.activeElement)',
    );
    expect([n, isBehind]).toEqual([n, false]);
  }
  await chat.page.keyboard.press('Escape');
  await untilFocused(chat, 'list');
  expect(await chat.at('side-new-chat').isVisible()).toBe(false);

  await chat.page.keyboard.press('Enter');
  await untilFocused(chat, 'side-new-chat');
  await chat.page.mouse.click(310, 600);
  await untilFocused(chat, 'list');
  // A press outside the list does not reach the page behind it.
  expect(await chat.status()).toBe('ready');
  await chat.leave();
});

it('the list opens over the menu, shows conversations, and closes after a choice', async () => {
  const chat = await onPhone();
  await chat.say(toScript({ say: 'Listed.' }).text);
  await chat.untilReplyHas('Listed.');
  const { searchParams } = new URL(chat.page.url());
  const shown = chat.page.locator(`[data-conversation="${searchParams.get('session') ?? ''}"]`);
  const untilClosed = (): Promise<void> => shown.waitFor({ state: 'hidden' });
  await chat.click('more');
  await chat.at('inbox').waitFor();
  await chat.click('list');
  await shown.waitFor();
  expect(await chat.at('inbox').isVisible()).toBe(false);
  expect(await findOverflow(chat.page)).toEqual([]);
  await chat.click('side-new-chat');
  await untilClosed();
  await until('a new chat is shown', async () => (await chat.replies()).length === 0);
  await chat.click('list');
  await shown.click();
  await untilClosed();
  await chat.untilReplyHas('Listed.');
  await chat.leave();
});

it('the menu closes at Escape, at a click outside, and after a choice', async () => {
  const chat = await onPhone();
  const open = async (): Promise<void> => {
    await chat.at('more').focus();
    await chat.page.keyboard.press('Enter');
    await chat.at('inbox').waitFor();
  };
  const untilClosed = (): Promise<void> => chat.at('inbox').waitFor({ state: 'hidden' });
  await open();
  await chat.page.keyboard.press('Tab');
  await chat.page.keyboard.press('Escape');
  await untilClosed();
  await untilFocused(chat, 'more');
  await open();
  await chat.page.getByRole('log').click();
  await untilClosed();
  await open();
  await chat.at('inbox').focus();
  await chat.page.keyboard.press('Enter');
  const inbox = chat.page.locator('dialog.inbox');
  await inbox.waitFor();
  await untilClosed();
  await chat.page.keyboard.press('Escape');
  await inbox.waitFor({ state: 'hidden' });
  await untilFocused(chat, 'more');

  await chat.page.setViewportSize({ width: 640, height: 140 });
  await open();
  const last = chat.page.locator('.top-tools > :last-child');
  await last.scrollIntoViewIfNeeded();
  const box = await last.boundingBox();
  expect((box?.y ?? 0) + (box?.height ?? Infinity)).toBeLessThanOrEqual(140);
  await chat.leave();
});

it('nothing moves for people who asked for less motion', async () => {
  const chat = await onPhone();
  await chat.page.emulateMedia({ reducedMotion: 'no-preference' });
  const moving = (): Promise<unknown> => chat.page.evaluate('document.getAnimations().length');
  await chat.say(toScript({ calls: [{ tool: 'sleep', id: 's1', args: { ms: 30_000 } }] }).text);
  await chat.untilStatus('working');
  expect(await chat.at('status').textContent()).toBe('Running: Sleep…');
  await until('the dot breathes', async () => Number(await moving()) > 0);
  await chat.page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await moving()).toBe(0);
  await chat.click('stop');
  await chat.untilStatus('ready');
});

it('a reply can be copied, messages say when they were sent, and the way to the end covers nothing', async () => {
  const chat = await onPhone();
  await chat.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const say = `**Bold** and more.\n\n${'A line.\n\n'.repeat(40)}`;
  await chat.say(toScript({ say }).text);
  await chat.untilStatus('ready');
  await chat.page.getByRole('button', { name: 'Copy: reply' }).click();
  await chat.page.getByRole('button', { name: 'Copied: reply' }).waitFor();
  const copied = await chat.page.evaluate('navigator.clipboard.readText()');
  expect(copied).toMatch(/^\*\*Bold\*\* and more\./);
  const sentAt = await chat.at('sent-at').getAttribute('datetime');
  await chat.page.reload();
  await chat.untilStatus('ready');
  expect(await chat.at('sent-at').getAttribute('datetime')).toBe(sentAt);

  await chat.page.locator('main').hover();
  await chat.page.mouse.wheel(0, -600);
  const toEnd = chat.page.getByRole('button', { name: 'Newest' });
  await toEnd.waitFor();
  const [button, text] = [await toEnd.boundingBox(), await chat.page.locator('main').boundingBox()];
  expect(button?.y).toBeGreaterThanOrEqual((text?.y ?? 0) + (text?.height ?? Infinity));
  await toEnd.click();
  await toEnd.waitFor({ state: 'detached' });
  await chat.leave();
});
