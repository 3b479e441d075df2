import type { UIMessage } from 'ai';
import { z } from 'zod';
import { defineAgent } from '../../../agents/index.js';
import {
  buildSnapshot,
  ConfigurationError,
  createFrontendHandler,
  handleChatStream,
  type HandleChatStreamParams,
} from '../../../ai-sdk/index.js';
import { createChatApp } from '../../../examples/hono/app.js';
import { JSAgentExecutor } from '../../../extensions/one-process/index.js';
import { InMemoryStateStore, InMemoryStreamManager } from '../../../store/memory/index.js';
import { createScriptedModel } from '../../../testing/index.js';
import { CLIENTS, textOf } from '../../support/chat-client.js';
import { newSessionId } from '../../support/product.js';
import { fakeTool } from '../../support/fake-tool.js';

// The Helix documents' complete example: an agent with a result, two stores in memory, the
// in-process executor, and a handler for chat, reconnect and snapshot behind a Hono app.

const ChatAgent = defineAgent({
  name: 'chat',
  systemPrompt: 'You are a helpful assistant.',
  outputSchema: z.object({ response: z.string() }),
  llmConfig: { model: createScriptedModel([{ say: 'Let me see.', finish: { response: 'Hi!' } }]) },
});

const stateStore = new InMemoryStateStore();
const streamManager = new InMemoryStreamManager();
const executor = new JSAgentExecutor(stateStore, streamManager);
afterAll(() => executor.close());
const deps = {
  executor,
  stateStore,
  streamManager,
  agent: ChatAgent,
  contentReplayEnabled: true,
} as const;

const dispatchChat = (params: HandleChatStreamParams): Promise<Response> =>
  handleChatStream(deps, params);
const getSnapshot = (sessionId: string): ReturnType<typeof buildSnapshot> =>
  buildSnapshot(deps, { sessionId });

describe('the complete example of the Helix documents', () => {
  it('a chat is answered by an agent that only the handler names', async () => {
    const sessionId = newSessionId();
    expect(await getSnapshot(sessionId)).toBeNull();
    const messages = [
      { id: 'u1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello' }] },
    ];
    const response = await dispatchChat({ sessionId, messages });
    expect(response.status).toBe(200);
    const sse = await response.text();
    expect(sse).toContain('Let me see.');
    expect(sse).toContain('[DONE]');
    const snapshot = await getSnapshot(sessionId);
    expect(snapshot?.status).toBe('ended');
    expect(snapshot?.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(JSON.stringify(snapshot?.messages)).toContain('{"response":"Hi!"}');
    // No run is active any more.
    expect((await dispatchChat({ sessionId, messages: [] })).status).toBe(204);
  });

  it('a conversation of a person is not shown without that person', async () => {
    const sessionId = newSessionId();
    const caller = { userId: 'ann' };
    const messages = [{ id: 'u1', role: 'user' as const, content: 'Hello' }];
    await (await dispatchChat({ sessionId, messages, ...caller })).text();
    expect(await getSnapshot(sessionId)).toBeNull();
    expect((await buildSnapshot(deps, { sessionId, caller }))?.messages).toHaveLength(2);
  });

  it.each(CLIENTS)('its Hono app serves the stock client of %s', async (_name, library) => {
    const app = createChatApp(deps, () => ({ userId: 'ann' }));
    const sessionId = newSessionId();
    const chat = new library.Chat<UIMessage>({
      id: sessionId,
      transport: new library.DefaultChatTransport<UIMessage>({
        api: `http://host.test/api/chat/${sessionId}`,
        fetch: async (url, init) => app.fetch(new Request(url, init)),
      }),
    });
    await chat.sendMessage({ text: 'Hello' });
    expect(chat.error).toBeUndefined();
    expect(chat.messages.map(textOf)).toEqual(['Hello', 'Let me see.']);
  });
});

it('a page that posts the result of a call that was given up is told so, and the next message is answered', async () => {
  const model = createScriptedModel([
    { calls: [{ tool: 'locate', id: 'c1', args: {} }] },
    { say: 'Then not.' },
    { say: 'Here.' },
  ]);
  const Finder = defineAgent({
    name: 'finder',
    systemPrompt: 'Find it.',
    llmConfig: { model },
    tools: [fakeTool('locate', 'client')],
  });
  const finder = { ...deps, agent: Finder };
  const sessionId = newSessionId();
  const post = (messages: unknown[]): Promise<Response> =>
    handleChatStream(finder, { sessionId, messages: messages as UIMessage[] });
  const user = (id: string) => ({ id, role: 'user', parts: [{ type: 'text', text: id }] });
  await (await post([user('u1')])).text();
  const asked = await buildSnapshot(finder, { sessionId });
  const [, reply] = structuredClone(asked?.messages ?? []) as UIMessage[];
  // Another device sends the next message.
  await (await post([user('u2')])).text();
  const parts = reply?.parts.map((part) =>
    'toolCallId' in part ? { ...part, state: 'output-available', output: 'Rome' } : part,
  );
  const late = await post([user('u1'), { ...reply, parts }]);
  expect(late.status).toBe(200);
  const told = await late.text();
  expect(told).toContain('"data":{"toolCallId":"c1","reason":"not-pending"}');
  expect(told).toContain('[DONE]');
  expect(await (await post([user('u3')])).text()).toContain('Here.');
});

describe('the handler that was there before handleChatStream', () => {
  const model = createScriptedModel([{ say: 'Let me see.' }, { say: 'That is all.' }]);
  const Desk = defineAgent({ name: 'desk', systemPrompt: 'Be brief.', llmConfig: { model } });
  const handler = createFrontendHandler({ ...deps, agent: Desk, logger: console });

  it('begins a conversation with a text, goes on with it, and shows its messages', async () => {
    const begun = await handler.handleRequest({ method: 'POST', body: { message: 'Hello' } });
    expect(begun).toMatchObject({
      status: 200,
      headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
    });
    const { 'x-session-id': sessionId = '' } = begun.headers;
    expect(await new Response(begun.body).text()).toContain('Let me see.');
    const more = { message: 'And?', sessionId };
    const next = await handler.handleRequest({ method: 'POST', body: more });
    expect(await new Response(next.body).text()).toContain('That is all.');
    const { messages, hasMore } = await handler.getMessages(sessionId, { limit: 3 });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(hasMore).toBe(true);
    const nothing = await handler.handleRequest({ method: 'GET', streamId: sessionId });
    expect([nothing.status, nothing.body]).toEqual([204, null]);
    // The rest starts where the reader's connection broke.
    const rest = await handler.handleRequest({ method: 'GET', streamId: sessionId, resumeAt: '1' });
    expect(rest.status).toBe(200);
    await rest.body?.cancel();
  });

  it('shows nobody the conversation of a person, and refuses their next message', async () => {
    const body = { message: 'Hello' };
    const begun = await handler.handleRequest({ method: 'POST', body, userId: 'ann' });
    await new Response(begun.body).text();
    const { 'x-session-id': sessionId = '' } = begun.headers;
    expect((await handler.getMessages(sessionId)).messages).toEqual([]);
    const own = await handler.getMessages(sessionId, { caller: { userId: 'ann' } });
    expect(own.messages).toHaveLength(2);
    const theirs = await handler.handleRequest({ method: 'POST', body: { ...body, sessionId } });
    expect(theirs.status).toBe(404);
    expect(await new Response(theirs.body).json()).toMatchObject({ code: 'not_found' });
  });

  it('a failed run is gone, a field that is missing is named, and options without effect are refused', async () => {
    const model = createScriptedModel([{ fail: { status: 400 } }]);
    const Broken = defineAgent({ name: 'broken', systemPrompt: 'x', llmConfig: { model } });
    const broken = createFrontendHandler({ ...deps, agent: Broken });
    const failing = await broken.handleRequest({ method: 'POST', body: { message: 'Hello' } });
    expect(await new Response(failing.body).text()).toContain('"type":"error"');
    const streamId = failing.headers['x-session-id'] ?? '';
    const gone = await broken.handleRequest({ method: 'GET', streamId });
    expect([gone.status, await new Response(gone.body).json()]).toMatchObject([
      410,
      { code: 'STREAM_FAILED' },
    ]);
    for (const body of [undefined, {}, { message: 1 }]) {
      const empty = { method: 'POST', body } as never;
      await expect(handler.handleRequest(empty)).rejects.toThrow('body.message');
    }
    const odd = await handler.handleRequest({ method: 'GET', streamId: 'a b' });
    expect(odd.status).toBe(400);
    const unknown = await handler.handleRequest({ method: 'GET', streamId: 'unknown' });
    expect(unknown.status).toBe(204);
    await expect(handler.handleRequest({ method: 'GET' } as never)).rejects.toThrow('streamId');
    const transformerOptions = { includeStepEvents: false };
    expect(() => createFrontendHandler({ ...deps, transformerOptions })).toThrow(
      ConfigurationError,
    );
  });
});
