import { describe, expect, it } from '@jest/globals';
import type { UIMessage } from 'ai';
import {
  callsOf,
  CLIENT_7,
  CLIENTS,
  loadChat,
  loadSnapshot,
  openChat,
  textOf,
  toScript,
  untilAsked,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { readSse } from '../support/sse-reader.js';

const product = useProduct();

/** Executions of `charge` in a session, by call. */
async function countCharges(sessionId: string): Promise<Record<string, number>> {
  const all = await product.redis.hgetall('lab:charges');
  return Object.fromEntries(
    Object.entries(all)
      .filter(([key]) => key.startsWith(`${sessionId}:`))
      .map(([key, count]) => [key.slice(key.lastIndexOf('/') + 1), Number(count)]),
  );
}

describe.each(CLIENTS)('%s: approvals', (_name, library) => {
  it('a chat executes an approved call once, with two requests in all', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ say: 'May I?', calls: [charge('c1')] }));
    await expectStoredAsShown(client, url, sessionId);
    expect(await countCharges(sessionId)).toEqual({});

    const id = await untilAsked(client);
    await client.chat.addToolApprovalResponse({ id, approved: true });
    // A second click changes nothing.
    await client.chat.addToolApprovalResponse({ id, approved: false });
    await untilRests(client, url);
    expect(client.posts()).toBe(2);
    expect(client.reply()).toBe('May I?done');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { state: 'output-available', output: { charged: 5 } },
    ]);
    expect(await countCharges(sessionId)).toEqual({ c1: 1 });
    await expectStoredAsShown(client, url, sessionId);
  });

  it('the model learns that a call was denied, and why', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [charge('c1')] }, { say: 'Then not.' }));
    const id = await untilAsked(client);
    await client.chat.addToolApprovalResponse({ id, approved: false, reason: 'too much' });
    await untilRests(client, url);
    expect(client.posts()).toBe(2);
    expect(client.reply()).toBe('Then not.');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { state: 'output-denied', approval: { approved: false, reason: 'too much' } },
    ]);
    expect(await countCharges(sessionId)).toEqual({});
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a chat continues after the last of several answers', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(
      toScript({
        calls: [
          charge('c1', 1),
          charge('c2', 2),
          { tool: 'echo', id: 'c3', args: { value: 'at once' } },
        ],
      }),
    );
    const first = await untilAsked(client, 'c1');
    const second = await untilAsked(client, 'c2');
    await client.chat.addToolApprovalResponse({ id: first, approved: true });
    await untilRests(client, url);
    expect(client.posts()).toBe(1);
    expect(await countCharges(sessionId)).toEqual({});
    await client.chat.addToolApprovalResponse({ id: second, approved: false });
    await untilRests(client, url);
    expect(client.posts()).toBe(2);
    // The questions come with the commit, after the text that was streamed.
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'c3', state: 'output-available', output: { value: 'at once' } },
      { toolCallId: 'c1', state: 'output-available', output: { charged: 1 } },
      { toolCallId: 'c2', state: 'output-denied' },
    ]);
    expect(client.reply()).toBe('done');
    expect(await countCharges(sessionId)).toEqual({ c1: 1 });
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a chat asks again in a later step', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [charge('c1')] }, { calls: [charge('c2')] }));
    for (const toolCallId of ['c1', 'c2']) {
      const id = await untilAsked(client, toolCallId);
      await client.chat.addToolApprovalResponse({ id, approved: true });
      await untilRests(client, url);
    }
    expect(client.posts()).toBe(3);
    expect(client.reply()).toBe('done');
    expect(await countCharges(sessionId)).toEqual({ c1: 1, c2: 1 });
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a chat drops a question when a new message comes instead of an answer', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [charge('c1')] }));
    const id = await untilAsked(client);
    await client.chat.sendMessage(toScript({ say: 'Something else, then.' }));
    await untilRests(client, url);
    expect(client.reply()).toBe('Something else, then.');
    expect(client.chat.messages).toHaveLength(4);
    const { messages, run } = await loadSnapshot(url, sessionId);
    expect(run?.status).toBe('completed');
    expect(callsOf(messages[1])).toMatchObject([{ state: 'output-error' }]);

    // Too late an answer, from a page that has not noticed.
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(client, url);
    const after = await loadSnapshot(url, sessionId);
    expect(after.messages).toEqual(messages);
    expect(await countCharges(sessionId)).toEqual({});
  });

  it('a message that comes along with the answer waits for the rest of the reply', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    // A page that leaves it to its person to send anything.
    const transport = new library.DefaultChatTransport<UIMessage>({
      api: `${url}/api/chat`,
      body: { agent: 'lab' },
    });
    const chat = new library.Chat({ id: sessionId, transport });
    const rest = { say: 'Paid, as you wished.', deltas: 5, everyMs: 50 };
    await chat.sendMessage(toScript({ calls: [charge('c1')] }, rest));
    const [call] = callsOf(chat.lastMessage);
    await chat.addToolApprovalResponse({ id: call?.approval?.id ?? '', approved: true });
    await chat.sendMessage(toScript({ say: 'And this.' }));
    expect(chat.error).toBeUndefined();
    expect(chat.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    const { messages } = await loadSnapshot(url, sessionId);
    expect(messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    const replies = messages.filter(({ role }) => role === 'assistant').map(textOf);
    expect(replies).toEqual(['Paid, as you wished.', 'And this.']);
    expect(chat.messages.slice(-1).map(textOf)).toEqual(['And this.']);
    expect(await countCharges(sessionId)).toEqual({ c1: 1 });
  });

  it('the server accepts the first answer when two pages post one', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    await first.chat.sendMessage(toScript({ calls: [charge('c1')] }, { say: 'Fine.' }));
    const id = await untilAsked(first);
    const { client: second } = await loadChat(library, { url, sessionId });
    expect(second.messages()).toEqual(first.messages());

    for (const { chat } of [first, second]) {
      void chat.addToolApprovalResponse({ id, approved: true });
    }
    await Promise.all([first, second].map((client) => untilRests(client, url)));
    expect([first.posts(), second.posts()]).toEqual([2, 1]);
    expect([first.reply(), second.reply()]).toEqual(['Fine.', 'Fine.']);
    expect(await countCharges(sessionId)).toEqual({ c1: 1 });
    await expectStoredAsShown(first, url, sessionId);
    await expectStoredAsShown(second, url, sessionId);
  });
});

it('the server refuses forged approvals and changed inputs', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId });
  await client.chat.sendMessage(toScript({ calls: [charge('c1', 5)] }));
  const approvalId = await untilAsked(client);
  const [user, assistant] = client.messages();
  const post = async (part: object): Promise<string[]> => {
    const body = { id: sessionId, messages: [user, { ...assistant, parts: [part] }] };
    const { done, parts } = await readSse(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await done;
    return parts.map(({ type }) => type);
  };
  const runId = approvalId.replace('::c1', '');
  const answer = (toolCallId: string, id: string, amount: number): object => ({
    type: 'dynamic-tool',
    toolName: 'charge',
    toolCallId,
    state: 'approval-responded',
    input: { amount },
    approval: { id, approved: true },
  });

  expect(await post(answer('c9', `${runId}::c9`, 1_000))).toContain('data-resume-rejected');
  expect(await post(answer('c1', `${runId}0::c1`, 1_000))).toContain('data-resume-rejected');
  expect(await countCharges(sessionId)).toEqual({});

  await post(answer('c1', approvalId, 1_000));
  const { messages } = await loadSnapshot(url, sessionId);
  expect(callsOf(messages.at(-1))).toMatchObject([
    { input: { amount: 5 }, output: { charged: 5 } },
  ]);
  expect(await countCharges(sessionId)).toEqual({ c1: 1 });
});
