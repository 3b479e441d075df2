import { describe, expect, it } from '@jest/globals';
import {
  callsOf,
  CLIENTS,
  loadSnapshot,
  openChat,
  toScript,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();

describe.each(CLIENTS)('%s: replies', (_name, library) => {
  it('a chat streams text piece by piece', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    const seen = new Set<number>();
    const watch = setInterval(() => seen.add(client.reply().length), 5);
    const text = 'Every word of this arrives once, äöü 🙂.';
    await client.chat.sendMessage(toScript({ say: text, deltas: 20, everyMs: 20 }));
    clearInterval(watch);
    await untilRests(client, url);
    expect(client.reply()).toBe(text);
    expect(seen.size).toBeGreaterThan(5);
    expect(client.chat.lastMessage?.id).toBe('msg-1');
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a chat shows reasoning beside text', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ think: 'Let me see.', say: 'I see.' }));
    await untilRests(client, url);
    expect(client.chat.lastMessage?.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Let me see.' },
      { type: 'text', text: 'I see.' },
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('the tools of a step run in parallel', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    const reply = client.chat.sendMessage(
      toScript({
        say: 'One sleeps.',
        calls: [
          { tool: 'sleep', id: 'c1', args: { ms: 60_000 }, argDeltas: 3 },
          { tool: 'echo', id: 'c2', args: { value: { deep: [1, 'ä'] } } },
        ],
      }),
    );
    const awake = await until('one has its result', () =>
      callsOf(client.chat.lastMessage).find(({ state }) => state === 'output-available'),
    );
    expect(awake).toMatchObject({ toolCallId: 'c2', output: { value: { deep: [1, 'ä'] } } });
    const stop = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    await fetch(`${url}/api/chat/${sessionId}/stop`, stop);
    await reply;
    await untilRests(client, url);
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'c1', state: 'output-error' },
      { toolCallId: 'c2', state: 'output-available' },
    ]);
    expect(client.reply()).toBe('One sleeps.');
    expect(client.posts()).toBe(1);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('the model gets the error of a tool, and the reply continues', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(
      toScript({ calls: [{ tool: 'boom', id: 'c1', args: { message: 'no luck' } }] }),
    );
    await untilRests(client, url);
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'c1', state: 'output-error', errorText: 'no luck' },
    ]);
    expect(client.reply()).toBe('done');
    expect(client.errors).toEqual([]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('the model of a second turn gets the first one', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ say: 'First answer.' }));
    await client.chat.sendMessage(toScript({ quote: true }));
    await untilRests(client, url);
    expect(client.chat.messages.map(({ id }) => id).filter((id) => id.startsWith('msg-'))).toEqual([
      'msg-1',
      'msg-3',
    ]);
    expect(client.reply().match(/First answer\./g)).toHaveLength(2);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a chat shows a failed run as an error, and the next message is answered', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(
      toScript({ say: 'Half is kept', deltas: 2, fail: { status: 400, afterDeltas: 1 } }),
    );
    await untilRests(client, url);
    expect(client.chat.status).toBe('error');
    expect(client.errors).toHaveLength(1);
    const failed = await loadSnapshot(url, sessionId);
    expect(failed).toMatchObject({ status: 'failed', run: { status: 'failed' } });
    expect(failed.messages.at(-1)).toMatchObject({ role: 'assistant', id: 'msg-1' });
    expect(client.reply()).toBe('Half i');

    await client.chat.sendMessage(toScript({ say: 'All is well.' }));
    await untilRests(client, url);
    expect(client.chat.status).toBe('ready');
    expect(client.reply()).toBe('All is well.');
    expect(client.posts()).toBe(2);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a provider that failed for a moment is asked again, without doubled text', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(
      toScript({ say: 'Got it.', fail: { status: 429, retryAfterMs: 50, times: 2 } }),
    );
    await untilRests(client, url);
    expect(client.reply()).toBe('Got it.');
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a stop in the middle of a reply keeps the partial reply', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    const text = 'Most of this is never sent. '.repeat(50);
    const reply = client.chat.sendMessage(toScript({ say: text, deltas: 400, everyMs: 25 }));
    await until('some text', () => client.reply().length > 20);
    const stop = await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    expect(stop.status).toBe(202);
    await reply;
    await untilRests(client, url);
    expect(client.chat.status).toBe('ready');
    expect(text.startsWith(client.reply())).toBe(true);
    expect(client.reply().length).toBeLessThan(text.length);
    expect(client.posts()).toBe(1);
    const stored = await loadSnapshot(url, sessionId);
    expect(stored).toMatchObject({ status: 'ended', run: { status: 'interrupted' } });
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a stop cuts a running tool without a second request of the client', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    const reply = client.chat.sendMessage(
      toScript({ calls: [{ tool: 'sleep', id: 'c1', args: { ms: 60_000 } }] }),
    );
    await until('the call is shown', () =>
      callsOf(client.chat.lastMessage).some(({ state }) => state === 'input-available'),
    );
    await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    await reply;
    await untilRests(client, url);
    expect(client.posts()).toBe(1);
    expect(callsOf(client.chat.lastMessage)).toMatchObject([{ state: 'output-error' }]);
    const stored = await loadSnapshot(url, sessionId);
    expect(stored.run?.status).toBe('interrupted');
    await expectStoredAsShown(client, url, sessionId);

    await client.chat.sendMessage(toScript({ say: 'Here again.' }));
    await untilRests(client, url);
    expect(client.reply()).toBe('Here again.');
  });

  it('a chat regenerates the newest reply, with its tools, as one message', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ say: 'Before.' }));
    await client.chat.sendMessage(
      toScript({ say: 'Once.', calls: [{ tool: 'echo', id: 'c1', args: { value: 1 } }] }),
    );
    await untilRests(client, url);
    const before = client.messages();
    await client.chat.regenerate();
    await untilRests(client, url);
    expect(client.chat.status).toBe('ready');
    expect(client.errors).toEqual([]);
    expect(client.reply()).toBe('Once.done');
    expect(client.messages().map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    // The calls of the reply before are never taken for these.
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'c1_1', state: 'output-available', output: { value: 1 } },
    ]);
    await expectStoredAsShown(client, url, sessionId);
    const stored = await loadSnapshot(url, sessionId);
    expect(stored.messages).toHaveLength(4);
  });

  it('a chat regenerates an older reply and drops what came after it', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ say: 'First.' }));
    await client.chat.sendMessage(toScript({ say: 'Second.' }));
    await untilRests(client, url);
    await client.chat.regenerate({ messageId: 'msg-1' });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.messages()).toHaveLength(2);
    expect(client.reply()).toBe('First.');
    await expectStoredAsShown(client, url, sessionId);
    await client.chat.sendMessage(toScript({ say: 'Third.' }));
    await untilRests(client, url);
    expect(client.chat.lastMessage?.id).toBe('msg-3');
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a regenerate request with a message that never arrived answers it', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const script = toScript({ say: 'Here.' });
    const unsent = {
      id: 'u-unsent',
      role: 'user' as const,
      parts: [{ type: 'text' as const, ...script }],
    };
    const client = openChat(library, { url, sessionId, messages: [unsent] });
    await client.chat.regenerate();
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.reply()).toBe('Here.');
    await expectStoredAsShown(client, url, sessionId);
  });
});
