import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  callsOf,
  CLIENT_7,
  loadChat,
  openChat,
  toScript,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** A turn with everything a worker does: text, a tool with state, an approved effect, more text. */
const TURN = toScript(
  {
    say: 'One. ',
    calls: [
      { tool: 'remember', id: 'r1', args: { key: 'a', value: 1 } },
      { tool: 'charge', id: 'c1', args: { amount: 5 } },
    ],
  },
  { say: 'Two. ', calls: [{ tool: 'echo', id: 'e1', args: { value: 2 } }] },
);

/** Every write of the worker about the conversation is a place to die: these are tried. */
const POINTS = [
  { nth: 3, when: 'before' },
  { nth: 5, when: 'before' },
  { nth: 6, when: 'after' },
  { nth: 8, when: 'after' },
] as const;

let product: Product;
beforeAll(async () => {
  product = await startProduct();
  await product.kill9Worker();
});
afterAll(() => product.stop());

async function startWorkerOver(proxy: TcpProxy): Promise<void> {
  await product.startWorker({ REDIS_URL: `redis://127.0.0.1:${String(proxy.port)}` });
}

/** Approves what the client is asked, until its conversation rests. */
async function bringToEnd(client: ChatClient): Promise<void> {
  for (;;) {
    await untilRests(client, product.url);
    const asked = callsOf(client.chat.lastMessage).find(
      ({ state }) => state === 'approval-requested',
    );
    if (asked?.state !== 'approval-requested') return;
    await client.chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
  }
}

async function countCharges(sessionId: string): Promise<number> {
  const all = await product.redis.hgetall('lab:charges');
  const own = Object.entries(all).filter(([key]) => key.startsWith(`${sessionId}:`));
  return own.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe('kill -9 of the worker', () => {
  it('has that many places in a calm run', async () => {
    const proxy = await startTcpProxy(product.redisServer.port);
    await startWorkerOver(proxy);
    const sessionId = newSessionId();
    const writes = proxy.count(sessionId);
    const client = openChat(CLIENT_7, { url: product.url, sessionId });
    await client.chat.sendMessage(TURN);
    await bringToEnd(client);
    expect(client.reply()).toBe('One. Two. done');
    await product.kill9Worker();
    await proxy.close();
    // Otherwise points lie beyond the end of the run, and nothing is killed there.
    expect(writes()).toBeGreaterThanOrEqual(Math.max(...POINTS.map(({ nth }) => nth)));
  });

  it.each(POINTS)(
    'at its write $nth, $when it is taken, changes nothing',
    async ({ nth, when }) => {
      const { url } = product;
      const proxy = await startTcpProxy(product.redisServer.port);
      await startWorkerOver(proxy);
      const sessionId = newSessionId();
      const sprung = proxy.holdAt(sessionId, when, nth);
      const first = openChat(CLIENT_7, { url, sessionId });
      const calm = first.chat.sendMessage(TURN).then(() => bringToEnd(first));
      // The client may be cut off, or be told to come back: it does so below.
      calm.catch(() => undefined);
      await sprung;
      await product.kill9Worker();
      await proxy.close();
      await product.startWorker();
      await until(
        'the run ends',
        async () => {
          const { client, resumed } = await loadChat(CLIENT_7, { url, sessionId });
          await resumed;
          await bringToEnd(client);
          return client.reply().endsWith('done');
        },
        60_000,
      );
      await calm.catch(() => undefined);

      const { client, snapshot, resumed } = await loadChat(CLIENT_7, { url, sessionId });
      await resumed;
      expect(client.reply()).toBe('One. Two. done');
      await expectStoredAsShown(client, url, sessionId);
      const calls = callsOf(client.chat.lastMessage);
      expect(calls.map(({ toolCallId }) => toolCallId)).toEqual(['r1', 'c1', 'e1']);
      const charge = calls[1];
      const charged = await countCharges(sessionId);
      // Known to have happened once, or known to be unknown.
      if (charge?.state === 'output-available') expect(charged).toBe(1);
      else expect(charged).toBeLessThanOrEqual(1);
      expect(snapshot.status).toBe('ended');
      await product.kill9Worker();
    },
    120_000,
  );
});
