import type { APICallError, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { tool } from 'ai';
import { z } from 'zod';
import { defineAgent, type LlmSettings, type PrepareStep } from '../../../agents/index.js';
import { convertToUIMessages, loadAllUIMessages } from '../../../ai-sdk/index.js';
import { isSameContent, toUserMessages } from '../../../ai-sdk/reply/user-messages.js';
import { createInProcessExecutor, ToolLoopAgent } from '../../../extensions/one-process/index.js';
import { StartAgentBody } from '../../../protocol/agent-server.js';
import type { UserRow } from '../../../protocol/rows.js';
import { toUserMessage } from '../../../store/record/user-message.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { apiError, fakeModel, parts, type Script } from '../../support/fake-model.js';

// One refusal by a provider must not block the conversation for ever.

const { text, call, finish, says, asks } = parts;

function refused(message: string, statusCode = 400): APICallError {
  const body = { error: { type: 'invalid_request_error', message } };
  const responseBody = JSON.stringify(body);
  return apiError(statusCode, { message, responseBody, isRetryable: false });
}

function modelOf(script: Script, name = { provider: 'mock', modelId: 'mock' }) {
  return Object.assign(fakeModel(script), name);
}

const read = tool({ inputSchema: z.object({}), execute: () => 'a line '.repeat(14_000) });

/** Opens a conversation with an agent, message by message. */
function open(
  model: LlmSettings['model'],
  more: { tools?: { read: typeof read }; prepareStep?: PrepareStep } = {},
) {
  const stores = createMemoryStores();
  const agent = defineAgent({
    name: 'a',
    systemPrompt: 's',
    llmConfig: { model, retryForMs: 100 },
    ...more,
  });
  const logger = { info: () => undefined, warn: () => undefined };
  const executor = createInProcessExecutor({ agents: [agent], stores, logger });
  const say = async (input: Parameters<typeof executor.execute>[1]) => {
    const handle = await executor.execute(agent, input, { sessionId: 's1' });
    const result = await handle.result();
    const code = result.status === 'failed' ? result.error.code : undefined;
    return { status: result.status, text: result.text, code };
  };
  return { stores, executor, agent, say };
}

const promptOf = (model: ReturnType<typeof fakeModel>): LanguageModelV4Prompt =>
  model.doStreamCalls.at(-1)?.prompt ?? [];
const told = (model: ReturnType<typeof fakeModel>): string => JSON.stringify(promptOf(model));

describe('a conversation whose provider has refused a prompt', () => {
  it.each([
    ['The response was filtered', 'provider_invalid_request', 'bad'],
    ['messages.2: media type not supported', 'prompt_file_refused', 'aGk='],
    ['messages.1.content.0.tool_use.name: String should match pattern', 'prompt_name_refused', ''],
    ['messages: roles must alternate', 'prompt_order_refused', ''],
  ])('for "%s" fails with %s, and answers again', async (message, code, without) => {
    const model = modelOf((n, { prompt }) => {
      if (without === '' ? n === 1 : JSON.stringify(prompt).includes(without)) {
        return Promise.reject(refused(message));
      }
      return says(`answer ${String(n)}`);
    });
    const { say, stores } = open(model);
    await say('good');
    const url = 'data:application/x-odd;base64,aGk=';
    const file = { type: 'file' as const, mediaType: 'application/x-odd', url };
    expect(await say([{ parts: [{ type: 'text', text: 'bad' }, file] }])).toMatchObject({
      status: 'failed',
      code,
    });
    expect(await say('more')).toMatchObject({ status: 'completed', text: 'answer 2' });
    expect(told(model)).toContain('good');
    // A reader of the conversation sees the question and a reply without text.
    const shown = await loadAllUIMessages(stores.store, 's1');
    expect(shown.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(shown[3]?.parts).toEqual([{ type: 'step-start' }]);
  });

  it('twice leaves out more, and a retry asks for everything again', async () => {
    let isStrict = true;
    const model = modelOf((n, { prompt }) => {
      const isBad = isStrict && /lost|odd|more/.test(JSON.stringify(prompt));
      if (n > 0 && isBad) return Promise.reject(refused('something is wrong'));
      return [...text(`answer ${String(n)}`, 't', { mock: { itemId: 'lost' } }), ...finish()];
    });
    const { say, executor } = open(model);
    await say('good');
    for (const words of ['odd', 'more']) expect((await say(words)).status).toBe('failed');
    expect((await say('fine')).status).toBe('completed');
    expect(told(model)).toContain('answer 0');
    expect((await say('odd')).status).toBe('failed');
    isStrict = false;
    const again = await executor.retry({ sessionId: 's1' });
    expect(await again.result()).toMatchObject({ status: 'completed' });
    expect(promptOf(model).at(-1)).toMatchObject({ content: [{ text: 'odd' }] });
  });

  it('for an item that its provider has lost is asked at once without such items', async () => {
    const model = modelOf((n, { prompt }) => {
      if (JSON.stringify(prompt).includes('msg_0')) {
        return Promise.reject(refused("Item with id 'msg_0' not found.", 404));
      }
      return [...text('fine', 't', { mock: { itemId: `msg_${String(n)}` } }), ...finish()];
    });
    const { say } = open(model);
    await say('one');
    expect(await say('two')).toMatchObject({ status: 'completed' });
    expect(model.doStreamCalls).toHaveLength(3);
    await say('three');
    expect(model.doStreamCalls).toHaveLength(4);
    expect(told(model)).toContain('"fine"');
  });

  it('for a wrong name of the model keeps everything', async () => {
    const model = modelOf((n) =>
      n === 0 ? Promise.reject(refused("The model 'x' does not exist", 404)) : says('yes'),
    );
    const { say } = open(model);
    expect(await say('first')).toMatchObject({ code: 'provider_unknown_model' });
    await say('second');
    expect(told(model)).toContain('first');
  });
});

describe('a prompt that is too long', () => {
  const MAX = 40_000;
  const limited = (script: Script) =>
    modelOf((n, options) => {
      const { length } = JSON.stringify(options.prompt);
      return length > MAX
        ? Promise.reject(
            refused(`prompt is too long: ${String(length)} tokens > ${String(MAX)} maximum`),
          )
        : script(n, options);
    });
  it('is shortened in the same step, and the later ones are kept within that', async () => {
    let asked = 0;
    const model = limited(() => (asked++ === 0 ? asks(call('c1', 'read', {})) : says('read it')));
    const { say } = open(model, { tools: { read } });
    expect(await say('read the log')).toMatchObject({ status: 'completed', text: 'read it' });
    expect(told(model)).toContain('is left out');
    const before = model.doStreamCalls.length;
    expect(await say('and now?')).toMatchObject({ status: 'completed' });
    expect(model.doStreamCalls).toHaveLength(before + 1);
  });

  it('of many messages loses the oldest, and keeps the newest question', async () => {
    const model = limited(() => [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'words '.repeat(600) },
      { type: 'text-end', id: 't' },
      ...finish(),
    ]);
    const { say } = open(model);
    for (let n = 0; n < 14; n += 1) {
      expect(await say(`question ${String(n)}`)).toMatchObject({ status: 'completed' });
    }
    expect(told(model)).toContain('question 13');
    expect(told(model)).not.toContain('question 0"');
  });

  it('that nothing makes short enough fails with a code of its own', async () => {
    const model = modelOf(() => Promise.reject(refused('maximum context length is 10 tokens')));
    const { say } = open(model);
    expect(await say('x '.repeat(10_000))).toMatchObject({ code: 'prompt_too_long' });
  });
});

// The executor recognizes copies, too.
const copying: PrepareStep = ({ messages }) => ({ messages: structuredClone(messages) });
it.each([
  ['', {}],
  [', by a prepareStep that copies', { prepareStep: copying }],
])(
  'a model that stands in for one of another provider is given the words of a reply, and nothing that only the other one reads%s',
  async (_, more) => {
    const first = modelOf(
      (n) => {
        if (n > 0) return Promise.reject(refused('overloaded', 529));
        const metadata = { anthropic: { signature: 'SIGNED' } };
        return [
          { type: 'reasoning-start', id: 'r', providerMetadata: metadata },
          { type: 'reasoning-delta', id: 'r', delta: 'THOUGHT' },
          { type: 'reasoning-end', id: 'r', providerMetadata: metadata },
          {
            type: 'tool-call',
            toolCallId: 'srvtoolu_1',
            toolName: 'web_search',
            input: '{}',
            providerExecuted: true,
          },
          { type: 'tool-result', toolCallId: 'srvtoolu_1', toolName: 'web_search', result: [] },
          ...says('found'),
        ];
      },
      { provider: 'anthropic.messages', modelId: 'claude-opus-4-6' },
    );
    const second = modelOf(() => says('go on'), {
      provider: 'openai.responses',
      modelId: 'gpt-5',
    });
    const { say } = open([{ model: first, maxTries: 1 }, second], more);
    await say('search');
    expect(await say('more')).toMatchObject({ status: 'completed', text: 'go on' });
    expect(told(second)).toContain('found');
    expect(told(second)).not.toMatch(/SIGNED|THOUGHT|srvtoolu|web_search/);
  },
);

it('a run that is resumed ends its prompt with a request, which stays behind the cut reply', async () => {
  let cut: () => void = () => undefined;
  const spoken = new Promise<void>((resolve) => (cut = resolve));
  const model = modelOf((n, { abortSignal }) => {
    if (n > 0) return says('and two.');
    return (async function* () {
      yield* text('Part one ').slice(0, -1);
      cut();
      await new Promise((resolve) => abortSignal?.addEventListener('abort', resolve));
    })();
  });
  const { executor, agent, say } = open(model);
  const handle = await executor.execute(agent, 'one', { sessionId: 's1' });
  await spoken;
  await handle.interrupt({ reason: 'stop' });
  await handle.result();
  await (await handle.resume()).result();
  const roles = () => promptOf(model).map(({ role }) => role);
  expect(roles()).toEqual(['system', 'user', 'assistant', 'user']);
  await say('next');
  expect(roles()).toEqual(['system', 'user', 'assistant', 'user', 'assistant', 'user']);
});

describe('what a program tells the provider about its messages', () => {
  const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } };

  it('reaches the provider from a message, a text and a picture', async () => {
    const model = modelOf(() => says('done'));
    const content = [
      { type: 'text' as const, text: 'long', providerOptions: mark },
      {
        type: 'image' as const,
        image: 'iVBORw0KGgo=',
        mediaType: 'image/png',
        providerOptions: mark,
      },
    ];
    const agent = new ToolLoopAgent({ model });
    await agent.generate({ messages: [{ role: 'user', content, providerOptions: mark }] });
    expect(promptOf(model).at(-1)).toMatchObject({
      providerOptions: mark,
      content: [{ providerOptions: mark }, { providerOptions: mark }],
    });
    await agent.close();
  });

  it('is no content: a page that posts the message again posts the same, and is not shown it', () => {
    const row = (more: object): UserRow => ({
      role: 'user',
      id: 'u1',
      parts: [{ type: 'text', text: 'long', ...more }],
    });
    const marked = toUserMessage(row({ providerOptions: mark }));
    expect(marked.hash).toBe(toUserMessage(row({})).hash);
    const [posted] = toUserMessages([{ ...row({}), parts: [{ type: 'text', text: 'long' }] }]);
    expect(posted && isSameContent(posted, marked.row)).toBe(true);
    expect(convertToUIMessages([marked.row])[0]?.parts).toEqual([{ type: 'text', text: 'long' }]);
  });

  it('is not taken from a request', () => {
    const part = { type: 'text', text: 'long', providerOptions: mark };
    const { message } = StartAgentBody.parse({ message: { parts: [part], providerOptions: mark } });
    expect(JSON.stringify(message)).not.toContain('cacheControl');
  });
});
