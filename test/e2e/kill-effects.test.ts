import { openAsked, openAskedBy } from '../support/asked-chat.js';
import { callsOf, CLIENT_7, openChat, toScript, untilRests } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const product = useProduct();
let proxy: TcpProxy;
// Workers reach Redis over a wire that a test can cut.
const startWorker = (): Promise<void> =>
  product.startWorker({ REDIS_URL: `redis://127.0.0.1:${String(proxy.port)}` });

beforeAll(async () => {
  await product.kill9Worker();
  proxy = await startTcpProxy(product.redisServer.port);
  await startWorker();
});
afterAll(() => proxy.close());

/** Kills the worker, which holds what did not get through, and starts another one. */
async function replaceWorker(): Promise<void> {
  await product.kill9Worker();
  proxy.cut();
  await startWorker();
}

/** Executions of `charge` in a session. */
async function countCharges(sessionId: string): Promise<number> {
  const all = await product.redis.hgetall('lab:charges');
  return Object.entries(all).reduce(
    (sum, [key, count]) => (key.startsWith(`${sessionId}:`) ? sum + Number(count) : sum),
    0,
  );
}

describe('an approved charge whose worker dies', () => {
  it.each([
    { agent: 'lab', when: 'before', charged: 0 },
    { agent: 'lab', when: 'after', charged: 1 },
    { agent: 'lab-leg', when: 'after', charged: 1 },
  ] as const)(
    'just $when the effect is not made again by $agent',
    async ({ agent, when, charged }) => {
      const { url } = product;
      const { sessionId, client, id } = await openAskedBy(agent, url, { calls: [charge('c1')] });
      const sprung = proxy.holdAt('lab:charges', when);
      await client.chat.addToolApprovalResponse({ id, approved: true });
      await sprung;
      await until('the effect', async () => (await countCharges(sessionId)) === charged);
      await replaceWorker();
      await untilRests(client, url);
      expect(callsOf(client.chat.lastMessage)).toMatchObject([
        { state: 'output-error', errorText: expect.stringContaining('not known') },
      ]);
      expect(client.reply()).toBe('done');
      expect(await countCharges(sessionId)).toBe(charged);
      await expectStoredAsShown(client, url, sessionId);
    },
  );

  it('just after its result was stored keeps that result', async () => {
    const { url } = product;
    const { sessionId, client, id } = await openAsked(url, { calls: [charge('c1')] });
    const sprung = proxy.holdAt('"charged":5', 'after');
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await sprung;
    await until(
      'the result',
      () => callsOf(client.chat.lastMessage)[0]?.state === 'output-available',
    );
    await replaceWorker();
    await untilRests(client, url);
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { state: 'output-available', output: { charged: 5 } },
    ]);
    expect(client.reply()).toBe('done');
    expect(await countCharges(sessionId)).toBe(1);
    await expectStoredAsShown(client, url, sessionId);
  });
});

describe('a transfer that can verify whose worker dies', () => {
  it.each([
    ['lab', 'before'],
    ['lab', 'after'],
    ['lab-leg', 'after'],
  ] as const)(
    'of %s just %s the effect is made exactly once, and has its result',
    async (agent, when) => {
      const { url } = product;
      const sessionId = newSessionId();
      const client = openChat(CLIENT_7, { url, sessionId, agent });
      const sprung = proxy.holdAt('lab:charges', when);
      const transfer = { tool: 'transfer', id: 't1', args: { amount: 5 } };
      const reply = client.chat.sendMessage(toScript({ calls: [transfer] }));
      await sprung;
      const made = when === 'after' ? 1 : 0;
      await until('the effect', async () => (await countCharges(sessionId)) === made);
      await replaceWorker();
      await reply;
      await untilRests(client, url);
      expect(callsOf(client.chat.lastMessage)).toMatchObject([
        { state: 'output-available', output: { transferred: 5 } },
      ]);
      expect(client.reply()).toBe('done');
      expect(await countCharges(sessionId)).toBe(1);
      await expectStoredAsShown(client, url, sessionId);
    },
  );
});

it.each(['before', 'after'] as const)(
  'a wire that breaks %s an append was taken neither loses nor doubles text',
  async (when) => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    // Words of one length, so that each is a piece of its own.
    const text = Array.from({ length: 80 }, (_, n) => `word-${String(100 + n)} `).join('');
    const sprung = proxy.holdAt('word-140', when);
    const reply = client.chat.sendMessage(toScript({ say: text, deltas: 80, everyMs: 10 }));
    await sprung;
    await until('what got through is stored', async () => {
      const entries = await product.redis.xrange(`hx:{${sessionId}}:stream`, '-', '+');
      return JSON.stringify(entries).includes('word-140') === (when === 'after');
    });
    proxy.cut();
    await reply;
    await untilRests(client, url);
    expect(client.reply()).toBe(text);
    await expectStoredAsShown(client, url, sessionId);
  },
);
