import type { UIMessage } from 'ai';
import { z } from 'zod';
import { defineAgent } from '../../agents/index.js';
import {
  buildSnapshot,
  handleChatStream,
  type HandleChatStreamParams,
} from '../../ai-sdk/index.js';
import { createChatApp } from '../../examples/hono/app.js';
import { JSAgentExecutor } from '../../in-process/index.js';
import { InMemoryStateStore, InMemoryStreamManager } from '../../stores/memory/index.js';
import { createScriptedModel } from '../../testing/index.js';
import { CLIENTS, textOf } from '../support/chat-client.js';
import { newSessionId } from '../support/product.js';

// The complete example of the Helix documents: one agent with a result, two stores in memory, the
// executor of one process, and a handler for chat, reconnect and snapshot behind a Hono app.

const ChatAgent = defineAgent({
  name: 'chat',
  systemPrompt: 'You are a helpful assistant.',
  outputSchema: z.object({ response: z.string() }),
  llmConfig: { model: createScriptedModel([{ say: 'Let me see.', finish: { response: 'Hi!' } }]) },
});

const stateStore = new InMemoryStateStore();
const streamManager = new InMemoryStreamManager({ stateStore });
const executor = new JSAgentExecutor(stateStore, streamManager);
const deps = {
  ...{ executor, stateStore, streamManager },
  agent: ChatAgent,
  contentReplayEnabled: true,
} as const;
const caller = { userId: 'ann' };

const dispatchChat = (params: HandleChatStreamParams): Promise<Response> =>
  handleChatStream(deps, params);
const getSnapshot = (sessionId: string): ReturnType<typeof buildSnapshot> =>
  buildSnapshot(deps, { sessionId, caller });

describe('the complete example of the Helix documents', () => {
  it('a chat is answered by an agent that only the handler names', async () => {
    const sessionId = newSessionId();
    expect(await getSnapshot(sessionId)).toBeNull();
    const messages = [
      { id: 'u1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hello' }] },
    ];
    const response = await dispatchChat({ sessionId, messages, ...caller });
    expect(response.status).toBe(200);
    const sse = await response.text();
    expect(sse).toContain('Let me see.');
    expect(sse).toContain('[DONE]');
    const snapshot = await getSnapshot(sessionId);
    expect(snapshot?.status).toBe('ended');
    expect(snapshot?.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(JSON.stringify(snapshot?.messages)).toContain('{"response":"Hi!"}');
    // Nothing is active any more.
    expect((await dispatchChat({ sessionId, messages: [], ...caller })).status).toBe(204);
  });

  it.each(CLIENTS)('its Hono app serves the stock client of %s', async (_name, library) => {
    const app = createChatApp(deps, () => caller);
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
