import type { UIMessage } from 'ai';
import { createChatApp } from '../../examples/hono/app.js';
import {
  createResumableChatTransport,
  prepareHelixChatRequest,
  prepareHelixReconnectRequest,
} from '../../ai-sdk/client/index.js';
import { CLIENTS, textOf } from '../support/chat-client.js';
import { newSessionId } from '../support/product.js';
import { useRuns } from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';

type Host = (request: Request) => Promise<Response>;

/** Checks everything that a host of a chat owes its page. */
async function talk(host: Host, [, { Chat }]: (typeof CLIENTS)[number]): Promise<UIMessage[]> {
  const sessionId = newSessionId();
  const fetch: typeof globalThis.fetch = (url, init) => host(new Request(url, init));
  const api = `http://host.test/api/chat/${sessionId}`;
  const chat = new Chat<UIMessage>({
    id: sessionId,
    transport: createResumableChatTransport({
      api,
      fetch,
      prepareSendMessagesRequest: prepareHelixChatRequest({ api }),
      prepareReconnectToStreamRequest: prepareHelixReconnectRequest({ api }),
    }),
  });
  expect((await fetch(`${api}/snapshot`)).status).toBe(404);
  expect((await fetch(api)).status).toBe(204);
  await chat.sendMessage({ text: 'hello' });
  expect(chat.error).toBeUndefined();
  const snapshot = await fetch(`${api}/snapshot`);
  const { messages, status } = (await snapshot.json()) as { messages: UIMessage[]; status: string };
  expect(status).toBe('ended');
  const texts = (all: UIMessage[]): string[][] => all.map((each) => [each.id, textOf(each)]);
  expect(texts(chat.messages)).toEqual(texts(messages));
  // No run is active any more.
  expect((await fetch(api)).status).toBe(204);
  const refused = await fetch(api, { method: 'POST', body: '{"messages":[]}' });
  expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'nothing_to_do' }]);
  return messages;
}

describe('an app on Hono', () => {
  const { agent } = createTestAgent();
  const { runs, stores } = useRuns([agent]);
  let host: Host;

  beforeAll(() => {
    const { store: stateStore, streamManager } = stores;
    const deps = { executor: { runs: runs.executor }, stateStore, streamManager, agent };
    const app = createChatApp(deps, (request) => ({
      userId: request.headers.get('x-user') ?? 'ann',
    }));
    host = async (request) => app.fetch(request);
  });

  it.each(CLIENTS)('an app on Hono serves a chat of %s', async (...client) => {
    const messages = await talk(host, client);
    expect(messages.map(textOf)).toEqual(['hello', 'You said hello']);
  });

  it('an app on Hono shows a conversation to its owner, and to no other user', async () => {
    const url = `http://host.test/api/chat/${newSessionId()}`;
    const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] }];
    const body = JSON.stringify({ messages });
    const reply = await host(new Request(url, { method: 'POST', body }));
    expect(await reply.text()).toContain('[DONE]');
    const read = (user: string): Promise<Response> =>
      host(new Request(`${url}/snapshot`, { headers: { 'x-user': user } }));
    expect((await read('ann')).status).toBe(200);
    expect((await read('bob')).status).toBe(404);
  });

  it('an app on Hono refuses a body that is not JSON', async () => {
    const request = new Request('http://host.test/api/chat/s1', { method: 'POST', body: '{' });
    expect((await host(request)).status).toBe(400);
  });
});
