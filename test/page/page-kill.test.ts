import type { Browser } from 'playwright-core';
import { toScript } from '../support/chat-client.js';
import { shareBrowser, openPage } from '../support/page-driver.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const FIRST = 'The first attempt says this and dies. '.repeat(10).trim();
const SECOND = 'What the second attempt says is something else, and it says all of it.';
const WHOLE = 'No reader has to reload for this to be shown whole. '.repeat(6).trim();
const changesItsMind = {
  say: SECOND,
  deltas: 10,
  everyMs: 10,
  attempts: [{ say: FIRST, deltas: 300, everyMs: 60 }, {}],
};
const charge = { tool: 'charge', id: 'c1', args: { amount: 5 } };
/** A worker that died is noticed after five seconds of silence; machines of tests are busy. */
const SLOW = 40_000;

const product = useProduct();
let browser: Browser;
beforeAll(async () => {
  browser = await shareBrowser();
});

describe('the page when the worker is killed', () => {
  it("the page shows the second attempt's text when the worker is killed in the middle of a reply, with or without a reload", async () => {
    const [watched, reloaded] = await Promise.all(
      [1, 2].map(() => openPage(browser, product.url, newSessionId())),
    );
    if (watched === undefined || reloaded === undefined) throw new Error('no pages');
    for (const chat of [watched, reloaded]) await chat.say(toScript(changesItsMind).text);
    for (const chat of [watched, reloaded]) await chat.untilReplyHas('The first attempt');
    await product.kill9Worker();
    await reloaded.page.reload();
    await product.startWorker();
    for (const chat of [watched, reloaded]) {
      await chat.untilReplyHas(SECOND, SLOW);
      await chat.untilStatus('ready');
      expect(await chat.replies()).toEqual([SECOND]);
      expect(chat.faults).toEqual([]);
    }
  });

  it('while an approval waits can be answered before and after a reload', async () => {
    const ids = [newSessionId(), newSessionId()];
    const [watched, reloaded] = await Promise.all(
      ids.map((id) => openPage(browser, product.url, id)),
    );
    if (watched === undefined || reloaded === undefined) throw new Error('no pages');
    for (const chat of [watched, reloaded]) {
      await chat.say(toScript({ say: 'May I?', calls: [charge] }).text);
    }
    for (const chat of [watched, reloaded]) await chat.untilStatus('waiting');
    await product.kill9Worker();
    await reloaded.page.reload();
    await reloaded.untilStatus('waiting');
    await watched.click('approve');
    await product.startWorker();
    await reloaded.click('approve');
    for (const chat of [watched, reloaded]) {
      await chat.untilReplyHas('done', SLOW);
      expect(await chat.replies()).toEqual(['May I?done']);
      expect(await chat.tools()).toEqual([{ tool: 'charge', state: 'done' }]);
    }
    const charges = Object.entries(await product.redis.hgetall('lab:charges'));
    const own = charges.filter(([key]) => ids.some((id) => key.startsWith(`${id}:`)));
    expect(own.map(([, count]) => count)).toEqual(['1', '1']);
  });
});

describe('the page when the API is killed', () => {
  it('the page recovers without a reload when the API is killed in the middle of a reply', async () => {
    const chat = await openPage(browser, product.url, newSessionId());
    await chat.say(toScript({ say: WHOLE, deltas: 200, everyMs: 40 }).text);
    await chat.untilReplyHas('No reader has');
    await product.kill9Api();
    await chat.untilStatus('reconnecting');
    await product.startApi();
    await until('the whole text', async () => (await chat.replies()).at(-1) === WHOLE, SLOW);
    await chat.untilStatus('ready');
    expect(await chat.replies()).toEqual([WHOLE]);
    expect(await chat.at('error-line').count()).toBe(0);
    expect(chat.faults).toEqual([]);
  });

  it('while an approval waits takes the answer when it is back', async () => {
    const chat = await openPage(browser, product.url, newSessionId());
    await chat.say(toScript({ say: 'May I?', calls: [charge] }).text);
    await chat.untilStatus('waiting');
    await product.kill9Api();
    await chat.click('approve');
    await chat.untilStatus('reconnecting');
    await product.startApi();
    await chat.untilReplyHas('done', SLOW);
    expect(await chat.replies()).toEqual(['May I?done']);
    expect(await chat.tools()).toEqual([{ tool: 'charge', state: 'done' }]);
  });

  it('the page sends the message that was written while the API was away', async () => {
    const chat = await openPage(browser, product.url, newSessionId());
    await chat.untilStatus('ready');
    await product.kill9Api();
    await chat.say(toScript({ say: 'It got through.' }).text);
    await chat.untilStatus('reconnecting');
    await product.startApi();
    await chat.untilReplyHas('It got through.', SLOW);
    expect(await chat.replies()).toEqual(['It got through.']);
  });
});
