import { describe, expect, it } from '@jest/globals';
import {
  CLIENTS,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();
const charge = { calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] };

const idOf = (client: ChatClient, index: number): string => client.messages()[index]?.id ?? '';

describe.each(CLIENTS)('%s: edited messages', (_name, library) => {
  it.each([
    ['the newest message', 2],
    ['an older message, with all that followed it', 0],
  ])('the agent answers %s again', async (_what, index) => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ say: 'First.' }));
    await client.chat.sendMessage(toScript({ say: 'Second.' }));
    await untilRests(client, url);
    const messageId = idOf(client, index);
    await client.chat.sendMessage({ ...toScript({ quote: true }), messageId });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.posts()).toBe(3);
    expect(client.messages()).toHaveLength(index + 2);
    expect(idOf(client, index)).toBe(messageId);
    // The model sees the edited message, not the dropped ones.
    expect(client.reply()).not.toContain('Second');
    await expectStoredAsShown(client, url, sessionId);
    await client.chat.sendMessage(toScript({ say: 'Third.' }));
    await untilRests(client, url);
    expect(client.reply()).toBe('Third.');
    await expectStoredAsShown(client, url, sessionId);
  });

  it('an edit drops the question that the old message led to', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript(charge));
    await untilAsked(client);
    await client.chat.sendMessage({
      ...toScript({ say: 'No charge.' }),
      messageId: idOf(client, 0),
    });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.reply()).toBe('No charge.');
    await expectStoredAsShown(client, url, sessionId);
    expect((await loadSnapshot(url, sessionId)).pending).toEqual([]);
  });

  it('an edit repeats a turn that waits for people', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript(charge));
    const first = await untilAsked(client);
    await client.chat.regenerate();
    expect(await untilAsked(client)).not.toBe(first);
    await expectStoredAsShown(client, url, sessionId);
  });
});

describe('an edit', () => {
  const say = (...script: object[]): string => JSON.stringify({ script });

  async function post(sessionId: string, id: string, text: string, messageId?: string) {
    const response = await fetch(`${product.url}/api/chat/${sessionId}?agent=lab`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        message: { id, role: 'user', parts: [{ type: 'text', text }] },
        ...(messageId !== undefined && { messageId }),
      }),
    });
    return { status: response.status, text: await response.text() };
  }

  it('an edit is made once, however often it is posted', async () => {
    const sessionId = newSessionId();
    await post(sessionId, 'u1', say({ say: 'First.' }));
    const edited = say({ say: 'Slowly, one by one.', deltas: 10, everyMs: 30 });
    const replies = await Promise.all([1, 2, 3].map(() => post(sessionId, 'u1', edited, 'u1')));
    const later = await post(sessionId, 'u1', edited, 'u1');
    for (const { status, text } of [...replies, later]) {
      expect([status, text.includes('[DONE]')]).toEqual([200, true]);
      expect(text).toContain('"messageId":"msg-1"');
    }
    const runs = (await loadSnapshot(product.url, sessionId)).run;
    expect(runs?.runId).toContain(`${sessionId}:2-`);
  });

  it('an edit that comes again late drops nothing', async () => {
    const sessionId = newSessionId();
    await post(sessionId, 'u1', say({ say: 'First.' }));
    const edit = say({ say: 'Edited.' });
    await post(sessionId, 'u1', edit, 'u1');
    await post(sessionId, 'u2', say({ say: 'Next.' }));
    const late = await post(sessionId, 'u1', edit, 'u1');
    expect([late.status, late.text]).toEqual([409, expect.stringContaining('client_out_of_step')]);
    expect((await loadSnapshot(product.url, sessionId)).messages).toHaveLength(4);
  });

  it('an edit is refused while the agent answers, and if it does not name the message', async () => {
    const sessionId = newSessionId();
    const running = post(sessionId, 'u1', say({ hangMs: 600_000 }));
    await until('the run is active', async () => {
      const response = await fetch(`${product.url}/api/chat/${sessionId}/snapshot`);
      return response.status === 200;
    });
    expect(await post(sessionId, 'u1', say({ say: 'x' }))).toMatchObject({ status: 409 });
    const busy = await post(sessionId, 'u1', say({ say: 'x' }), 'u1');
    expect([busy.status, busy.text]).toEqual([409, expect.stringContaining('already_running')]);
    await fetch(`${product.url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    await running;
    const conflict = await post(sessionId, 'u1', say({ say: 'x' }));
    expect([conflict.status, conflict.text]).toEqual([
      409,
      expect.stringContaining('message_conflict'),
    ]);
  });

  it('an edit of an unknown message is a new message', async () => {
    const sessionId = newSessionId();
    expect(await post(sessionId, 'u1', say({ say: 'Hello.' }), 'u1')).toMatchObject({
      status: 200,
    });
    expect((await loadSnapshot(product.url, sessionId)).messages).toHaveLength(2);
  });
});
