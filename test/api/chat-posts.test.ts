import type { UIMessage } from 'ai';
import {
  callsOf,
  CLIENT_7,
  loadSnapshot,
  openChat,
  textOf,
  toScript,
  untilAsked,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge, delegate } from '../support/lab-calls.js';
import { postJson } from '../support/post-json.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { until } from '../support/until.js';

const product = useLocalProduct();

const idOf = (client: ChatClient, index: number): string => client.messages()[index]?.id ?? '';

it('a message that comes along with the answer waits for the rest of the reply', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  // This page sends nothing on its own; its user does.
  const transport = new CLIENT_7.DefaultChatTransport<UIMessage>({
    api: `${url}/api/chat`,
    body: { agent: 'lab' },
  });
  const chat = new CLIENT_7.Chat({ id: sessionId, transport });
  const rest = { say: 'Paid, as you wished.', deltas: 5, everyMs: 50 };
  await chat.sendMessage(toScript({ calls: [charge('c1')] }, rest));
  const [call] = callsOf(chat.lastMessage);
  await chat.addToolApprovalResponse({ id: call?.approval?.id ?? '', approved: true });
  await chat.sendMessage(toScript({ say: 'And this.' }));
  expect(chat.error).toBeUndefined();
  expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  const { messages } = await loadSnapshot(url, sessionId);
  expect(messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
  const replies = messages.filter(({ role }) => role === 'assistant').map(textOf);
  expect(replies).toEqual(['Paid, as you wished.', 'And this.']);
  expect(chat.messages.slice(-1).map(textOf)).toEqual(['And this.']);
  expect(product.chargesOf(`${sessionId}:`)).toEqual({ c1: 1 });
});

it('the agent answers an edited older message, and forgets all that followed it', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId });
  await client.chat.sendMessage(toScript({ say: 'First.' }));
  await client.chat.sendMessage(toScript({ say: 'Second.' }));
  await untilRests(client, url);
  const messageId = idOf(client, 0);
  await client.chat.sendMessage({ ...toScript({ quote: true }), messageId });
  await untilRests(client, url);
  expect(client.errors).toEqual([]);
  expect(client.posts()).toBe(3);
  expect(client.messages()).toHaveLength(2);
  expect(idOf(client, 0)).toBe(messageId);
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
  const client = openChat(CLIENT_7, { url, sessionId });
  await client.chat.sendMessage(toScript({ calls: [charge('c1')] }));
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

const say = (...script: object[]): string => JSON.stringify({ script });

async function post(sessionId: string, id: string, text: string, messageId?: string) {
  const response = await postJson(`${product.url}/api/chat/${sessionId}?agent=lab`, {
    message: { id, role: 'user', parts: [{ type: 'text', text }] },
    ...(messageId !== undefined && { messageId }),
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

it('sub-agents end when the conversation is stopped, in the middle of their words', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId });
  const sent = client.chat.sendMessage(
    toScript({ calls: [delegate('d1', { say: 'a'.repeat(600), deltas: 600, everyMs: 50 })] }),
  );
  await until('it speaks', () => JSON.stringify(client.messages()).includes('aaa'));
  await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
  await sent;
  await untilRests(client, url);
  expect(callsOf(client.chat.lastMessage)).toMatchObject([{ state: 'output-error' }]);
  await expectStoredAsShown(client, url, sessionId);
  await client.chat.sendMessage(toScript({ say: 'Here again.' }));
  await untilRests(client, url);
  expect(client.reply()).toBe('Here again.');
});
