import {
  callsOf,
  CLIENT_7,
  openChat,
  toScript,
  untilAsked,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge, delegate } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();

describe('sub-agents in a chat', () => {
  it('work in parallel, and their results come back to the parent', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(
      toScript({
        say: 'Both.',
        calls: [
          delegate(
            'd1',
            { calls: [{ tool: 'echo', id: 'c1', args: { value: 1 } }] },
            { say: 'one' },
          ),
          delegate(
            'd2',
            { calls: [{ tool: 'echo', id: 'c1', args: { value: 2 } }] },
            { say: 'two' },
          ),
        ],
      }),
    );
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.posts()).toBe(1);
    expect(client.reply()).toBe('Both.done');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'd1', state: 'output-available', output: 'one' },
      { toolCallId: 'd2', state: 'output-available', output: 'two' },
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('have client tools, answered in the parent’s message', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(
      toScript({
        calls: [
          delegate(
            'd1',
            { calls: [{ tool: 'locate', id: 'l1', args: {} }, charge('c1')] },
            { say: 'ok' },
          ),
        ],
      }),
    );
    const id = await untilAsked(client, 'c1');
    await expectStoredAsShown(client, url, sessionId);
    const output = { city: 'Ulm' };
    await client.chat.addToolOutput({ tool: 'locate', toolCallId: 'l1', output });
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.reply()).toBe('done');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'd1', state: 'output-available', output: 'ok' },
      { toolCallId: 'l1', state: 'output-available', output },
      { toolCallId: 'c1', state: 'output-available' },
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('ask again, and the reply continues in the same message', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(
      toScript({
        say: 'First.',
        calls: [
          delegate('d1', { calls: [charge('c1')] }, { calls: [charge('c2')] }, { say: 'ok' }),
        ],
      }),
    );
    for (const id of ['c1', 'c2']) {
      const approval = await untilAsked(client, id);
      await expectStoredAsShown(client, url, sessionId);
      await client.chat.addToolApprovalResponse({ id: approval, approved: id === 'c1' });
    }
    await untilRests(client, url);
    expect(client.posts()).toBe(3);
    expect(client.reply()).toBe('First.done');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'd1', state: 'output-available', output: 'ok' },
      { toolCallId: 'c1', state: 'output-available' },
      { toolCallId: 'c2', state: 'output-denied' },
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });
});

describe('sub-agents', () => {
  it('that fail are reported to the model as an error', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(
      toScript({ calls: [delegate('d1', { say: 'half', fail: { status: 400 } })] }),
    );
    await untilRests(client, url);
    expect(client.reply()).toBe('done');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([{ state: 'output-error' }]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('end when the conversation is stopped, in the middle of their words', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const sent = client.chat.sendMessage(
      toScript({ calls: [delegate('d1', { say: 'a'.repeat(600), deltas: 600, everyMs: 50 })] }),
    );
    await until('it speaks', async () => {
      const keys = await product.redis.keys(`*{${sessionId}}:*:writers`);
      return keys.length > 0;
    });
    await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    await sent;
    await untilRests(client, url);
    expect(callsOf(client.chat.lastMessage)).toMatchObject([{ state: 'output-error' }]);
    await expectStoredAsShown(client, url, sessionId);
    await client.chat.sendMessage(toScript({ say: 'Here again.' }));
    await untilRests(client, url);
    expect(client.reply()).toBe('Here again.');
  });
});
