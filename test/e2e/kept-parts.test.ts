import { randomBytes } from 'node:crypto';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { defineAgent, defineTool, type AgentDefinition } from '../../agents/index.js';
import { z } from 'zod';
import { startApi, type ApiServer } from '../api/api-server.js';
import {
  CLIENTS,
  loadChat,
  openChat,
  toScript,
  untilAsked,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { createRunHarness } from '../support/run-harness.js';
import { openTestStores } from '../support/test-stores.js';
import { until } from '../support/until.js';

/** Every lasting part that the page shows live must also appear after a reload. */

const progress = (id: string, steps: number): object => ({ tool: 'progress', id, args: { steps } });

/** Starts an API and a worker for one agent, in this process. */
async function startApiOf(agent: AgentDefinition): Promise<ApiServer> {
  const stores = await openTestStores();
  const runs = await createRunHarness(stores, [agent]);
  await runs.startWorker();
  const agents = { has: () => true, getRegisteredTypes: () => [agent.name] };
  return startApi({
    ...stores,
    executor: { runs: runs.executor },
    agents,
    keepAliveMs: 50,
  });
}

function shownTypes(client: ChatClient): string[] {
  return (
    client
      .messages()
      .at(-1)
      ?.parts.map(({ type }) => type) ?? []
  );
}

describe('what tools say beside their results', () => {
  const product = useProduct();

  it.each(CLIENTS)('%s: is kept in the order in which it was streamed', async (_name, library) => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(
      toScript(
        { calls: [progress('p1', 2), charge('c1'), progress('p2', 2)] },
        { say: 'Then. ', calls: [progress('p3', 1)] },
      ),
    );
    const id = await untilAsked(client);
    expect(shownTypes(client).filter((type) => type === 'data-progress')).toHaveLength(4);
    await expectStoredAsShown(client, url, sessionId);
    const { client: later, resumed } = await loadChat(library, { url, sessionId });
    await resumed;
    expect(later.messages()).toEqual(client.messages());
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.reply()).toBe('Then. done');
    expect(shownTypes(client).slice(-5)).toEqual([
      'text',
      'dynamic-tool',
      'data-progress',
      'step-start',
      'text',
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it.each(CLIENTS)('%s: stands before what a sub-agent asks afterwards', async (_name, library) => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    const delegate = { tool: 'delegate', id: 'd1', args: { script: [{ calls: [charge('c1')] }] } };
    await client.chat.sendMessage(toScript({ calls: [progress('p1', 2), delegate] }));
    const id = await untilAsked(client);
    await expectStoredAsShown(client, url, sessionId);
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('the events of a stopped tool are kept', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const [, library] = CLIENTS[1] ?? [];
    if (library === undefined) throw new Error('unreachable');
    const client = openChat(library, { url, sessionId });
    const sleep = { tool: 'sleep', id: 's1', args: { ms: 60_000 } };
    const reply = client.chat.sendMessage(toScript({ calls: [progress('p1', 2), sleep] }));
    await until('two events', () => shownTypes(client).filter((t) => t === 'data-progress')[1]);
    await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    await reply;
    await untilRests(client, url);
    await expectStoredAsShown(client, url, sessionId);
  });
});

describe('the output of a run that a tool ends', () => {
  const name = `finisher-${randomBytes(4).toString('hex')}`;
  const book = defineTool({
    name: 'book',
    description: 'Books.',
    inputSchema: z.object({}),
    finishWith: true,
    execute: () => ({ booked: [] }),
  });
  const model = fakeModel(() => [
    ...parts.text('Booking.'),
    ...parts.call('b1', 'book', {}),
    ...parts.finish('tool-calls'),
  ]);
  const agent = defineAgent({ name, systemPrompt: '', tools: [book], llmConfig: { model } });
  let api: ApiServer;
  beforeAll(async () => {
    api = await startApiOf(agent);
  });

  it.each(CLIENTS)('%s: stands in its message', async (_name, library) => {
    const sessionId = newSessionId();
    const client = openChat(library, { url: api.url, sessionId, agent: name });
    await client.chat.sendMessage({ text: 'Book it.' });
    await untilRests(client, api.url);
    expect(client.errors).toEqual([]);
    expect(client.messages().at(-1)?.parts).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'Booking.' },
      { type: 'dynamic-tool', output: { booked: [] } },
      { type: 'data-output', data: { booked: [] } },
      { type: 'step-start' },
    ]);
    await expectStoredAsShown(client, api.url, sessionId);
  });
});

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
  const LARGE = 'A'.repeat(400_000);

  const prompts: unknown[] = [];
  const name = `painter-${randomBytes(4).toString('hex')}`;
  const model = fakeModel((n, { prompt }) => {
    prompts.push(prompt);
    if (n > 0 && n % 2 === 1) return [...parts.text('Again.'), ...parts.finish()];
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
      picture(LARGE),
      ...parts.finish(),
    ];
  });
  const agent = defineAgent({ name, systemPrompt: '', tools: [], llmConfig: { model } });
  let api: ApiServer;
  beforeAll(async () => {
    const stores = await openTestStores();
    const runs = await createRunHarness(stores, [agent]);
    await runs.startWorker();
    const agents = { has: () => true, getRegisteredTypes: () => [name] };
    api = await startApi({
      ...stores,
      executor: { runs: runs.executor },
      agents,
      keepAliveMs: 50,
    });
  });

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
        // The server stores data that is too large for a chunk as a file of the conversation.
        {
          type: 'file',
          mediaType: 'image/png',
          url: expect.stringMatching(`^/api/chat/${sessionId}/files/[0-9a-f-]{36}$`),
        },
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
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: LARGE } },
          ],
        },
        {},
      ]);
    },
  );
});
