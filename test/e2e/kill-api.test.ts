import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  CLIENT_7,
  CLIENTS,
  loadChat,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { until } from '../support/until.js';

const SAID = 'The run does not notice that nobody listens to it. '.repeat(8);

let product: Product;
beforeAll(async () => {
  product = await startProduct();
});
afterAll(() => product.stop());

describe('kill -9 of the API', () => {
  it('in the middle of a reply loses nothing', async () => {
    const { url } = product;
    const pages = CLIENTS.map(([, library]) => {
      const sessionId = newSessionId();
      const client = openChat(library, { url, sessionId });
      const reply = client.chat.sendMessage(toScript({ say: SAID, deltas: 200, everyMs: 30 }));
      return { library, sessionId, client, reply };
    });
    await until('some text', () => pages.every(({ client }) => client.reply().length > 20));
    await product.kill9Api();
    for (const { client, reply } of pages) {
      await reply;
      expect(client.chat.status).toBe('error');
      expect(SAID.startsWith(client.reply())).toBe(true);
    }
    await product.startApi();
    expect(product.url).toBe(url);
    for (const { library, sessionId } of pages) {
      const { client, resumed } = await loadChat(library, { url, sessionId });
      await resumed;
      await untilRests(client, url);
      expect(client.reply()).toBe(SAID);
      await expectStoredAsShown(client, url, sessionId);
    }
  });

  it('while an approval waits leaves it to be answered', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(
      toScript({ calls: [{ tool: 'charge', id: 'c1', args: { amount: 1 } }] }),
    );
    const id = await untilAsked(client);
    await product.kill9Api();
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await until('the client fails', () => client.chat.status === 'error');
    await product.startApi();
    // What a page does with answers that did not get through: it sends them again.
    client.chat.clearError();
    await client.chat.sendMessage();
    await untilRests(client, url);
    expect(client.reply()).toBe('done');
    expect(await product.redis.hlen('lab:charges')).toBe(1);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('of one that is told to go cuts its readers, who find the rest elsewhere', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const reply = client.chat.sendMessage(toScript({ say: SAID, deltas: 200, everyMs: 20 }));
    await until('some text', () => client.reply().length > 20);
    await product.stopApi();
    await reply;
    // An end that looks orderly would be taken for the end of the reply.
    expect(client.chat.status).toBe('error');
    await product.startApi();
    const { client: again, resumed } = await loadChat(CLIENT_7, { url, sessionId });
    await resumed;
    expect(again.reply()).toBe(SAID);
    expect((await loadSnapshot(url, sessionId)).run?.status).toBe('completed');
  });
});
