import { toScript } from '../support/chat-client.js';
import { openPage, openWindow, type ChatPage } from '../support/page-driver.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const FIRST = 'The first attempt says this and dies. '.repeat(10).trim();
const SECOND = 'What the second attempt says is something else, and it says all of it.';
const WHOLE = 'No reader has to reload for this to be shown whole. '.repeat(6).trim();
const changesItsMind = {
  say: SECOND,
  deltas: 10,
  everyMs: 10,
  attempts: [{ say: FIRST, deltas: 600, everyMs: 60 }, {}],
};
const charge = { tool: 'charge', id: 'c1', args: { amount: 5 } };
/** Others notice a dead worker after five seconds of silence; the tests keep machines busy. */
const SLOW = 40_000;

const product = useProduct();
/** Opens pages; busy ones get their own windows. */
async function openAll(count: number, text: string, isBusy: boolean): Promise<ChatPage[]> {
  const open = (): Promise<ChatPage> =>
    openPage(product.url, newSessionId(), 'lab', isBusy ? openWindow() : undefined);
  const opened = await Promise.all(Array.from({ length: count }, open));
  for (const chat of opened) await chat.say(text);
  return opened;
}

const ASKS = toScript({ say: 'May I?', calls: [charge] }).text;

async function expectCharged(chats: ChatPage[]): Promise<void> {
  for (const chat of chats) {
    await chat.untilReplyHas('done', SLOW);
    expect(await chat.replies()).toEqual(['May I?done']);
    expect(await chat.tools()).toEqual([{ tool: 'charge', state: 'done' }]);
    const id = new URL(chat.page.url()).searchParams.get('session') ?? '';
    const charges = Object.entries(await product.redis.hgetall('lab:charges'));
    const own = charges.filter(([key]) => key.startsWith(`${id}:`));
    expect(own.map(([, count]) => count)).toEqual(['1']);
  }
}

// One kill hits all pages: a process takes a while to start.
describe('the page when the worker is killed', () => {
  let speaking: ChatPage[];
  let asked: ChatPage[];
  beforeAll(async () => {
    asked = await openAll(2, ASKS, false);
    for (const chat of asked) await chat.untilStatus('waiting');
    speaking = await openAll(2, toScript(changesItsMind).text, true);
    for (const chat of speaking) await chat.untilReplyHas('The first attempt');
    await product.kill9Worker();
    for (const [, reloaded] of [speaking, asked]) await reloaded?.page.reload();
    const [watched, reloaded] = asked;
    await reloaded?.untilStatus('waiting');
    await watched?.click('approve');
    await product.startWorker();
  }, 120_000);

  it("the page shows the second attempt's text when the worker is killed in the middle of a reply, with or without a reload", async () => {
    for (const chat of speaking) {
      await chat.untilReplyHas(SECOND, SLOW);
      await chat.untilStatus('ready');
      expect(await chat.replies()).toEqual([SECOND]);
      await chat.leave();
    }
  });

  it('while an approval waits can be answered before and after a reload', async () => {
    await asked[1]?.click('approve');
    await expectCharged(asked);
  });
});

describe('the page when the API is killed', () => {
  let speaking: ChatPage[];
  let asked: ChatPage[];
  let idle: ChatPage;
  beforeAll(async () => {
    idle = await openPage(product.url);
    await idle.untilStatus('ready');
    asked = await openAll(1, ASKS, false);
    for (const chat of asked) await chat.untilStatus('waiting');
    speaking = await openAll(1, toScript({ say: WHOLE, deltas: 200, everyMs: 40 }).text, true);
    for (const chat of speaking) await chat.untilReplyHas('No reader has');
    await product.kill9Api();
    await idle.say(toScript({ say: 'It got through.' }).text);
    for (const chat of asked) await chat.click('approve');
    for (const chat of [idle, ...asked, ...speaking]) await chat.untilStatus('reconnecting');
    await product.startApi();
  }, 120_000);

  it('the page recovers without a reload when the API is killed in the middle of a reply', async () => {
    for (const chat of speaking) {
      await until('the whole text', async () => (await chat.replies()).at(-1) === WHOLE, SLOW);
      await chat.untilStatus('ready');
      expect(await chat.replies()).toEqual([WHOLE]);
      expect(await chat.at('error-line').count()).toBe(0);
      await chat.leave();
    }
  });

  it('while an approval waits takes the answer when it is back', async () => {
    await expectCharged(asked);
  });

  it('the page sends the message that was written while the API was away', async () => {
    await idle.untilReplyHas('It got through.', SLOW);
    expect(await idle.replies()).toEqual(['It got through.']);
  });
});
