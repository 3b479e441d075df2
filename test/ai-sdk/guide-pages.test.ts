import type { UIMessage } from 'ai';
import { CLIENTS, loadSnapshot, openChat, toScript, untilRests } from '../support/chat-client.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { until } from '../support/until.js';

// Stock pages from the AI SDK's guides, without anything specific to this project.

const product = useLocalProduct();
const locate = { calls: [{ tool: 'locate', id: 'l1', args: {} }] };
const slowly = { say: 'A long answer. '.repeat(20), deltas: 100, everyMs: 20 };

const typesOf = ({ parts = [] }: Partial<UIMessage> = {}): string[] =>
  parts.map(({ type }) => type).filter((type) => type !== 'step-start');

describe.each(CLIENTS)('a page of %s', (_name, library) => {
  it('runs its client tool, though it passes over dynamic calls', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const { chat } = openChat(library, { url, sessionId });
    const passed: string[] = [];
    // `useChat` sets its option of that name in the same way.
    Object.assign(chat, {
      onToolCall: ({
        toolCall,
      }: {
        toolCall: { dynamic?: boolean; toolName: string; toolCallId: string };
      }) => {
        if (toolCall.dynamic) {
          passed.push(toolCall.toolName);
          return;
        }
        const { toolName: tool, toolCallId } = toolCall;
        if (tool === 'locate') void chat.addToolOutput({ tool, toolCallId, output: 'Rome' });
      },
    });
    const echo = { calls: [{ tool: 'echo', id: 'e1', args: { value: 'x' } }] };
    await chat.sendMessage(toScript(echo, locate, { say: 'Over.' }));
    await until('the reply', () => typesOf(chat.lastMessage).includes('text'));
    await until('the end', () => chat.status === 'ready');
    expect(typesOf(chat.lastMessage)).toEqual(['dynamic-tool', 'tool-locate', 'text']);
    const { messages } = await loadSnapshot(url, sessionId);
    expect(typesOf(messages.at(-1))).toEqual(typesOf(chat.lastMessage));
  });

  it.each([
    ['while a text is written', slowly],
    ['while a tool is at work', { calls: [{ tool: 'sleep', id: 's1', args: { ms: 600_000 } }] }],
    ['while the model is silent', { hangMs: 600_000 }],
  ])('is answered after stop(), %s', async (_when, script) => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    const { chat, errors } = client;
    const first = chat.sendMessage(toScript(script));
    await until('the reply begins', () => chat.lastMessage?.role === 'assistant');
    await chat.stop();
    await first;
    await chat.sendMessage(toScript({ say: 'The next answer.' }));
    await untilRests(client, url);
    expect([client.reply(), errors]).toEqual(['The next answer.', []]);
    const { messages } = await loadSnapshot(url, sessionId);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it.each([
    ['regenerates a reply', undefined, 'Word. '.repeat(10)],
    ['edits its message', { say: 'Other.' }, 'Other.'],
  ])('%s after stop()', async (_what, edit, reply) => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    const { chat, errors } = client;
    const first = chat.sendMessage(
      toScript({ say: 'Word. '.repeat(10), deltas: 10, everyMs: 100 }),
    );
    await until('some text', () => client.reply().length > 5);
    await chat.stop();
    await first;
    const messageId = chat.messages[0]?.id ?? '';
    await (edit ? chat.sendMessage({ ...toScript(edit), messageId }) : chat.regenerate());
    await untilRests(client, url);
    expect([client.reply(), errors]).toEqual([reply, []]);
    const { messages } = await loadSnapshot(url, sessionId);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});

it('a page that knows nothing of the reply does not end it', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const [[, library] = []] = CLIENTS;
  if (library === undefined) throw new Error('no client');
  const first = openChat(library, { url, sessionId });
  const reply = first.chat.sendMessage(toScript({ hangMs: 600_000 }));
  await until('the reply begins', () => first.chat.lastMessage?.role === 'assistant');
  const second = openChat(library, { url, sessionId });
  await second.chat.sendMessage(toScript({ say: 'No.' }));
  expect(second.errors.map(({ message }) => message)).toEqual([
    expect.stringContaining('agent_already_running'),
  ]);
  await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
  await reply;
});
