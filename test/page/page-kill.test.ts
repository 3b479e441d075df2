import { toScript } from '../support/chat-client.js';
import { chargesOf } from '../support/lab-calls.js';
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

const product = useProduct();
const ASKS = toScript({ say: 'May I?', calls: [charge] }).text;

let asked: ChatPage;
/** A busy page has its own window. */
let speaking: ChatPage;
const opened: ChatPage[] = [];

async function open(window?: ReturnType<typeof openWindow>): Promise<ChatPage> {
  const chat = await openPage(product.url, newSessionId(), 'lab', window);
  opened.push(chat);
  return chat;
}

async function openPages(): Promise<void> {
  [asked, speaking] = await Promise.all([open(), open(openWindow())]);
}

/** Throws if the code of a page had errors. */
async function leavePages(): Promise<void> {
  for (const chat of opened.splice(0)) await chat.leave();
}

/** Expects that the question was approved and led to one charge. */
async function expectCharged(): Promise<void> {
  await until('the reply', async () => (await asked.replies()).at(-1) === 'May I?done');
  expect(await asked.replies()).toEqual(['May I?done']);
  expect(await asked.tools()).toEqual([{ tool: 'charge', state: 'done' }]);
  const id = new URL(asked.page.url()).searchParams.get('session') ?? '';
  expect(await chargesOf(product.redis, `${id}:`)).toEqual({ c1: 1 });
}

// One kill hits all pages: a process takes a while to start.
describe('the page when the worker is killed', () => {
  beforeAll(async () => {
    await openPages();
    await asked.say(ASKS);
    await asked.untilStatus('waiting');
    await speaking.say(toScript(changesItsMind).text);
    await speaking.untilReplyHas('The first attempt');
    await product.kill9Worker();
    await asked.click('approve');
    await product.startWorker();
  });
  afterAll(leavePages);

  it("the page shows the second attempt's text when the worker is killed in the middle of a reply", async () => {
    await speaking.untilReplyHas(SECOND);
    await speaking.untilStatus('ready');
    expect(await speaking.replies()).toEqual([SECOND]);
  });

  it('while an approval waits takes the answer before another one runs', async () => {
    await expectCharged();
  });
});

describe('the page when the API is killed', () => {
  let idle: ChatPage;
  beforeAll(async () => {
    [idle] = await Promise.all([open(), openPages()]);
    await idle.untilStatus('ready');
    await asked.say(ASKS);
    await asked.untilStatus('waiting');
    await speaking.say(toScript({ say: WHOLE, deltas: 200, everyMs: 50 }).text);
    await speaking.untilReplyHas('No reader has');
    await product.kill9Api();
    await idle.say(toScript({ say: 'It got through.' }).text);
    await asked.click('approve');
    for (const chat of [idle, asked, speaking]) await chat.untilStatus('reconnecting');
    await product.startApi();
  });
  afterAll(leavePages);

  it('the page recovers without a reload when the API is killed in the middle of a reply', async () => {
    await until('the whole text', async () => (await speaking.replies()).at(-1) === WHOLE);
    await speaking.untilStatus('ready');
    expect(await speaking.replies()).toEqual([WHOLE]);
    expect(await speaking.at('error-line').count()).toBe(0);
  });

  it('while an approval waits takes the answer when it is back', async () => {
    await expectCharged();
  });

  it('the page sends the message that was written while the API was away', async () => {
    await idle.untilReplyHas('It got through.');
    expect(await idle.replies()).toEqual(['It got through.']);
  });
});
