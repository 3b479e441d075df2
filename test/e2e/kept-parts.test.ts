import { randomBytes } from 'node:crypto';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { z } from 'zod';
import { createSubAgentTool, defineTool, type AgentDefinition } from '../../agents/index.js';
import { startApi, type ApiServer, type StartOptions } from '../api/api-server.js';
import { callsOf, CLIENTS, loadChat, openChat, untilRests } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { useRuns } from '../support/run-harness.js';
import { lateBound, type TestStores } from '../support/test-stores.js';
import { fakeAgent } from '../support/fake-agent.js';

/** Every lasting part that a model makes and the page shows must also appear after a reload. */

describe('sources and files of a model', () => {
  const source = (id: string): LanguageModelV4StreamPart => ({
    type: 'source',
    sourceType: 'url',
    id,
    url: `https://example.com/${id}`,
    title: id,
  });
  const document: LanguageModelV4StreamPart = {
    type: 'source',
    sourceType: 'document',
    id: 'd1',
    mediaType: 'application/pdf',
    title: 'Handbook',
    filename: 'handbook.pdf',
  };
  const picture = (data: string | Uint8Array): LanguageModelV4StreamPart => ({
    type: 'file',
    mediaType: 'image/png',
    data: { type: 'data', data },
  });
  const PIXEL = Buffer.from('not really a picture');

  const prompts: unknown[] = [];
  const name = `painter-${randomBytes(4).toString('hex')}`;
  const model = fakeModel((n, { prompt }) => {
    prompts.push(prompt);
    if (n > 0 && n % 2 === 1) return parts.says('Again.');
    const [start, ...rest] = parts.text('Here it is.');
    const end = rest.pop();
    if (start === undefined || end === undefined) throw new Error('unreachable');
    return [
      start,
      ...rest.slice(0, 4),
      source('s1'),
      ...rest.slice(4),
      end,
      document,
      picture(PIXEL.toString('base64')),
      picture(new Uint8Array(PIXEL)),
      ...parts.finish(),
    ];
  });
  const agent = fakeAgent(name, model);
  const api = useLocalProduct({ agents: [agent] });

  it.each(CLIENTS)(
    '%s: are shown and kept beside the text, and files go back to the model',
    async (_name, library) => {
      const sessionId = newSessionId();
      const client = openChat(library, { url: api.url, sessionId, agent: name });
      await client.chat.sendMessage({ text: 'A picture, please.' });
      await untilRests(client, api.url);
      expect(client.errors).toEqual([]);
      const url = `data:image/png;base64,${PIXEL.toString('base64')}`;
      expect(client.messages().at(-1)?.parts).toMatchObject([
        { type: 'step-start' },
        { type: 'text', text: 'Here it is.' },
        { type: 'source-url', sourceId: 's1', url: 'https://example.com/s1', title: 's1' },
        { type: 'source-document', sourceId: 'd1', title: 'Handbook', filename: 'handbook.pdf' },
        { type: 'file', mediaType: 'image/png', url },
        { type: 'file', mediaType: 'image/png', url },
      ]);
      await expectStoredAsShown(client, api.url, sessionId);
      await client.chat.sendMessage({ text: 'And?' });
      await untilRests(client, api.url);
      expect(client.reply()).toBe('Again.');
      const data = { type: 'data', data: PIXEL.toString('base64') };
      expect(prompts.at(-1)).toMatchObject([
        {},
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Here it is.' },
            { type: 'file', mediaType: 'image/png', data },
            { type: 'file', mediaType: 'image/png', data },
          ],
        },
        {},
      ]);
    },
  );
});

describe("the provider's metadata of a call that people are asked about beside a sub-agent", () => {
  const helper = fakeAgent(
    `helper-${randomBytes(4).toString('hex')}`,
    fakeModel(() => parts.says('Helped.')),
  );
  const mark = { google: { thoughtSignature: 'sig' } };
  const plain = { description: 'A tool.', inputSchema: z.object({}) };
  const asker = fakeAgent(
    `asker-${randomBytes(4).toString('hex')}`,
    fakeModel(() =>
      parts.asks(...['locate', 'help', 'pay'].map((tool) => parts.call(tool, tool, {}, mark))),
    ),
    {
      tools: [
        createSubAgentTool({ ...plain, agent: helper, name: 'help' }),
        defineTool({ ...plain, name: 'locate', execute: 'client' }),
        defineTool({ ...plain, name: 'pay', execute: () => null, requireApproval: true }),
      ],
    },
  );
  const api = useLocalProduct({ agents: [asker, helper] });

  it.each(CLIENTS)('%s: is shown and kept', async (_name, library) => {
    const sessionId = newSessionId();
    const client = openChat(library, { url: api.url, sessionId, agent: asker.name });
    await client.chat.sendMessage({ text: 'Help me.' });
    await untilRests(client, api.url);
    expect(callsOf(client.messages().at(-1))).toMatchObject([
      { toolCallId: 'help', state: 'output-available', callProviderMetadata: mark },
      { toolCallId: 'locate', state: 'input-available', callProviderMetadata: mark },
      { toolCallId: 'pay', state: 'approval-requested', callProviderMetadata: mark },
    ]);
    await expectStoredAsShown(client, api.url, sessionId);
  });
});

/** Larger than any chunk of the stream. */
const IMAGE = randomBytes(3 * 1024 * 1024);
const THOUGHT = randomBytes(400 * 1024);
const MARK = { google: { thoughtSignature: 'sig' } };

const made = (content: Buffer, type: 'file' | 'reasoning-file'): LanguageModelV4StreamPart => ({
  type,
  mediaType: 'image/png',
  providerMetadata: MARK,
  data: { type: 'data', data: content.toString('base64') },
});

describe.each([
  ['', {}],
  [', in legs', { activities: 'leg' }],
] as const)('a large file that a model makes%s', (_suffix, shape) => {
  const name = `painter-${randomBytes(4).toString('hex')}`;
  const model = fakeModel((n) =>
    n % 2 === 1
      ? parts.says('It is a cat.')
      : [
          made(THOUGHT, 'reasoning-file'),
          { type: 'custom', kind: 'acme.canvas', providerMetadata: { acme: { id: 'c' } } },
          ...parts.text('Here:'),
          made(IMAGE, 'file'),
          ...parts.finish(),
        ],
  );
  const { api, stores } = useAgentApi(fakeAgent(name, model, { ...shape }), {
    allowUnauthenticated: false,
    authenticate: (request) => ({ userId: request.get('x-user') ?? 'ann' }),
  });

  it.each(CLIENTS)('%s: is served, stays after a reload and goes back', async (_name, library) => {
    const { url } = api;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId, agent: name });
    await client.chat.sendMessage({ text: 'Paint a cat.' });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    const shown = client
      .messages()
      .at(-1)
      ?.parts.find((part) => part.type === 'file');
    if (shown === undefined) throw new Error('no file is shown');
    expect(shown.url).toMatch(new RegExp(`^/api/chat/${sessionId}/files/`));
    await expectStoredAsShown(client, url, sessionId);
    const { client: later } = await loadChat(library, { url, sessionId, agent: name });
    expect(later.messages()).toEqual(client.messages());

    const whole = await api.get(shown.url);
    expect(whole.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await whole.arrayBuffer()).equals(IMAGE)).toBe(true);
    const part = await api.get(shown.url, { range: 'bytes=300000-300009' });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([
      206,
      IMAGE.subarray(300_000, 300_010),
    ]);
    expect((await api.get(shown.url, { 'x-user': 'bob' })).status).toBe(404);

    await later.chat.sendMessage({ text: 'What is it?' });
    await untilRests(later, url);
    const reply = model.doStreamCalls.at(-1)?.prompt.find(({ role }) => role === 'assistant');
    expect(reply?.content).toEqual([
      {
        type: 'reasoning-file',
        mediaType: 'image/png',
        providerOptions: MARK,
        data: { type: 'data', data: THOUGHT.toString('base64') },
      },
      { type: 'custom', kind: 'acme.canvas', providerOptions: { acme: { id: 'c' } } },
      { type: 'text', text: 'Here:' },
      {
        type: 'file',
        mediaType: 'image/png',
        filename: undefined,
        providerOptions: MARK,
        data: { type: 'data', data: IMAGE.toString('base64') },
      },
    ]);

    const erased = await fetch(`${url}/api/chat/${sessionId}`, { method: 'DELETE' });
    expect(erased.ok).toBe(true);
    expect((await api.get(shown.url)).status).toBe(404);
    const left = await stores.redis.keys(`*${sessionId}*`);
    expect(left.filter((key) => key.includes('file'))).toEqual([]);
  });
});

/** Keeps an API over real runs of one agent up, with a worker in this process. */
function useAgentApi(
  agent: AgentDefinition,
  options: StartOptions = {},
): { api: ApiServer; stores: TestStores } {
  const { runs, stores } = useRuns([agent]);
  let api: ApiServer | undefined;
  beforeAll(async () => {
    api = await startApi({
      ...stores,
      executor: { runs: runs.executor },
      agents: { has: () => true, getRegisteredTypes: () => [agent.name] },
      keepAliveMs: 50,
      ...options,
    });
  });
  return { api: lateBound(() => api), stores };
}
