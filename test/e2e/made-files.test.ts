import { randomBytes } from 'node:crypto';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { defineAgent } from '../../agents/index.js';
import { startApi, type ApiServer } from '../api/api-server.js';
import { CLIENTS, loadChat, openChat, untilRests } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { createRunHarness } from '../support/run-harness.js';
import { newSessionId } from '../support/session-driver.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

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
      ? [...parts.text('It is a cat.'), ...parts.finish()]
      : [
          made(THOUGHT, 'reasoning-file'),
          { type: 'custom', kind: 'acme.canvas', providerMetadata: { acme: { id: 'c' } } },
          ...parts.text('Here:'),
          made(IMAGE, 'file'),
          ...parts.finish(),
        ],
  );
  const agent = defineAgent({ name, systemPrompt: '', ...shape, llmConfig: { model } });
  let stores: TestStores;
  let api: ApiServer;
  beforeAll(async () => {
    stores = await openTestStores();
    const runs = await createRunHarness(stores, [agent]);
    await runs.startWorker();
    const agents = { has: () => true, getRegisteredTypes: () => [name] };
    api = await startApi({
      ...stores,
      agents,
      keepAliveMs: 50,
      allowUnauthenticated: false,
      executor: { runs: runs.executor },
      authenticate: (request) => ({ userId: request.get('x-user') ?? 'ann' }),
    });
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
