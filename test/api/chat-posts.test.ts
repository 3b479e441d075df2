import type { UIMessage } from 'ai';
import { callsOf, CLIENT_7, loadSnapshot, textOf, toScript } from '../support/chat-client.js';
import { charge } from '../support/lab-calls.js';
import { postJson } from '../support/post-json.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';

const product = useLocalProduct();

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
