import { describe, expect, it } from '@jest/globals';
import {
  callsOf,
  CLIENT_7,
  CLIENTS,
  loadChat,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const locate = (id: string): object => ({ tool: 'locate', id, args: { question: 'where?' } });

const product = useProduct({});

async function post(path: string, body: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${product.url}/api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function give({ chat }: ChatClient, toolCallId: string, output: unknown): Promise<void> {
  await chat.addToolOutput({ tool: 'locate', toolCallId, output });
}

describe.each(CLIENTS)('%s: client tools', (_name, library) => {
  it('a run continues with the results of the page, in one message, also after a reload', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    await first.chat.sendMessage(toScript({ say: 'Where?', calls: [locate('c1'), locate('c2')] }));
    await untilRests(first, url);
    await give(first, 'c1', { lat: 1 });
    await untilRests(first, url);
    expect(first.posts()).toBe(1);
    const { client, snapshot, resumed } = await loadChat(library, { url, sessionId });
    await resumed;
    expect(snapshot.pending?.map(({ toolCallId }) => toolCallId)).toEqual(['c1', 'c2']);
    await give(client, 'c1', { lat: 1 });
    await give(client, 'c2', { lat: 2 });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.posts()).toBe(1);
    expect(client.chat.messages).toHaveLength(2);
    expect(client.reply()).toBe('Where?done');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'c1', state: 'output-available', output: { lat: 1 } },
      { toolCallId: 'c2', state: 'output-available', output: { lat: 2 } },
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('client tools and approvals of one step are answered, each in its way', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [locate('c1'), charge('c2', 5)] }));
    const id = await untilAsked(client);
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(client, url);
    await give(client, 'c1', 'here');
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.reply()).toBe('done');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'c1', output: 'here' },
      { toolCallId: 'c2', state: 'output-available', output: { charged: 5 } },
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('the first of two pages gives the result, and both show the reply', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    await first.chat.sendMessage(toScript({ calls: [locate('c1')] }));
    await untilRests(first, url);
    const { client: second } = await loadChat(library, { url, sessionId });
    await give(first, 'c1', 'one');
    await untilRests(first, url);
    await give(second, 'c1', 'two');
    await untilRests(second, url);
    expect([first.reply(), second.reply()]).toEqual(['done', 'done']);
    expect(second.errors).toEqual([]);
    expect(callsOf((await loadSnapshot(url, sessionId)).messages.at(-1))).toMatchObject([
      { output: 'one' },
    ]);
  });
});

describe('answers given elsewhere', () => {
  it('an answer given elsewhere continues a run without an open chat, and an edited input is checked and shown', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [charge('c1', 50), locate('c2')] }));
    await untilAsked(client);
    const inbox = await fetch(`${url}/api/sessions/${sessionId}/pending`);
    expect(await inbox.json()).toMatchObject({
      pending: [
        { toolCallId: 'c1', kind: 'approval' },
        { toolCallId: 'c2', kind: 'client' },
      ],
    });
    const at = `chat/${sessionId}/pending`;
    const codeOf = async (path: string, body: object): Promise<unknown> => {
      const reply = await post(path, body);
      return [reply.status, (reply.body as { code?: string }).code];
    };
    expect(await codeOf(`${at}/c1`, { approved: true, input: { amount: 'x' } })).toEqual([
      400,
      'invalid_input',
    ]);
    expect(await codeOf(`${at}/c1`, { result: 1 })).toEqual([400, 'kind_mismatch']);
    expect(await codeOf(`${at}/c1`, {})).toEqual([400, 'validation_error']);
    expect(await codeOf(`${at}/c9`, { result: 1 })).toEqual([409, 'not_pending']);
    expect(await codeOf(`${at}/c2/extend`, { byMs: 5 })).toEqual([409, 'no_deadline']);
    expect(await codeOf(`chat/${newSessionId()}/pending/c1`, { approved: true })).toEqual([
      404,
      'not_found',
    ]);
    expect(await post(`${at}/c1`, { approved: true, input: { amount: 30 } })).toMatchObject({
      status: 202,
      body: { resumed: false },
    });
    expect(await post(`${at}/c2`, { result: 'here' })).toMatchObject({
      status: 202,
      body: { resumed: true },
    });
    expect(await codeOf(`${at}/c2`, { result: 'there' })).toEqual([409, 'already_completed']);
    const done = await until('the run ends', async () => {
      const snapshot = await loadSnapshot(url, sessionId);
      return snapshot.run?.status === 'completed' ? snapshot : undefined;
    });
    expect(callsOf(done.messages.at(-1))).toMatchObject([
      {
        input: { amount: 50 },
        output: { charged: 30 },
        approval: { approved: true, input: { amount: 30 }, by: 'anonymous' },
      },
      { output: 'here' },
    ]);
  });

  it('come too late for a tool with two seconds, whose worker was killed meanwhile', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const ask = { tool: 'ask', id: 'c1', args: { question: 'well?' } };
    await client.chat.sendMessage(toScript({ calls: [ask] }));
    await untilRests(client, url);
    await product.kill9Worker();
    // Without a worker, only a reader of the session can settle it.
    await until('the deadline has passed', async () => {
      const { pending } = await loadSnapshot(url, sessionId);
      return pending?.length === 0;
    });
    await product.startWorker();
    const done = await until(
      'the run ends',
      async () => {
        const snapshot = await loadSnapshot(url, sessionId);
        return snapshot.run?.status === 'completed' ? snapshot : undefined;
      },
      30_000,
    );
    expect(callsOf(done.messages.at(-1))).toMatchObject([
      { state: 'output-error', errorText: 'client_tool_deadline_exceeded' },
    ]);
    expect(await post(`chat/${sessionId}/pending/c1`, { result: 'so' })).toMatchObject({
      status: 409,
      body: { code: 'late_answer_after_timeout' },
    });
  }, 60_000);
});
