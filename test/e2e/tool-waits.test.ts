import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  callsOf,
  CLIENT_7,
  CLIENTS,
  isBusy,
  loadChat,
  loadSnapshot,
  openChat,
  toScript,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { delegate } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { callHook, readExecutions, untilSent, waits } from '../support/tool-waits.js';
import { until } from '../support/until.js';

const product = useProduct();

/** The question of a tool, once the chat shows it. */
async function untilAskedBy(client: ChatClient, name: string): Promise<string> {
  return until(`the question ${name}`, () => {
    const part = callsOf(client.chat.lastMessage).find(({ toolName }) => toolName === name);
    return part?.state === 'input-available' && !isBusy(client) ? part.toolCallId : undefined;
  });
}

async function answerAt(sessionId: string, toolCallId: string, body: object): Promise<Response> {
  const path = `/api/chat/${sessionId}/pending/${encodeURIComponent(toolCallId)}`;
  return fetch(product.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** The question that a session asks now, as an inbox reads it. */
async function untilPending(sessionId: string, name: string): Promise<string> {
  return until(`the question ${name}`, async () => {
    const response = await fetch(`${product.url}/api/chat/${sessionId}/snapshot`);
    if (response.status !== 200) return undefined;
    const { pending } = await loadSnapshot(product.url, sessionId);
    return pending?.find(({ toolName }) => toolName === name)?.toolCallId;
  });
}

/** A conversation whose tool waits for its webhook. */
async function askForPayment(agent = 'lab'): Promise<{ sessionId: string; hook: string }> {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId, agent });
  await client.chat.sendMessage(toScript({ calls: [waits({ webhook: 'paid' })] }));
  return { sessionId, hook: await untilSent(client, url) };
}

/** What the tool of a conversation has returned in the end. */
async function resultsOf(sessionId: string): Promise<unknown> {
  const { url } = product;
  await until('the end', async () => (await loadSnapshot(url, sessionId)).status === 'ended');
  const { client: page } = await loadChat(CLIENT_7, { url, sessionId });
  const [call] = callsOf(page.chat.lastMessage);
  return (call as { output?: { results?: unknown } } | undefined)?.output?.results;
}

/** Sends a body without an end; the status of the reply. */
function postEndless(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sender = request(url, { method: 'POST' });
    const more = (): void => {
      while (!sender.destroyed && sender.write('"'.repeat(65_536)));
    };
    sender.on('drain', more);
    sender.on('error', reject);
    sender.on('response', (reply) => {
      resolve(reply.statusCode ?? 0);
      sender.removeAllListeners('error').on('error', () => undefined);
      sender.destroy();
    });
    more();
  });
}

describe.each(CLIENTS)('%s: a tool that waits', (_name, library) => {
  it('asks as a client tool does, twice, and its steps are executed once', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(library, { url, sessionId });
    const plan = [{ step: 'a' }, { suspend: 'first' }, { step: 'b' }, { suspend: 'second' }];
    await client.chat.sendMessage(toScript({ say: 'Well.', calls: [waits(...plan)] }));
    for (const [tool, value] of [
      ['first', 1],
      ['second', 2],
    ] as const) {
      const toolCallId = await untilAskedBy(client, tool);
      await client.chat.addToolOutput({ tool, toolCallId, output: { value } });
    }
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.posts()).toBe(3);
    expect(client.reply()).toBe('Well.done');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'w1', output: { results: ['a', { value: 1 }, 'b', { value: 2 }] } },
      { toolName: 'first', state: 'output-available', output: { value: 1 } },
      { toolName: 'second', state: 'output-available', output: { value: 2 } },
    ]);
    expect(await readExecutions(product.redis, sessionId)).toEqual({ a: 1, b: 1 });
    await expectStoredAsShown(client, url, sessionId);
  });

  it('shows its question on a reloaded page, which answers it', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const first = openChat(library, { url, sessionId });
    await first.chat.sendMessage(toScript({ calls: [waits({ suspend: 'ask_me' })] }));
    await untilAskedBy(first, 'ask_me');
    const { client, snapshot, resumed } = await loadChat(library, { url, sessionId });
    await resumed;
    expect(snapshot.status).toBe('paused');
    const toolCallId = await untilAskedBy(client, 'ask_me');
    await client.chat.addToolOutput({ tool: 'ask_me', toolCallId, output: { value: 3 } });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.reply()).toBe('done');
    await expectStoredAsShown(client, url, sessionId);
  });
});

describe('a tool that waits', () => {
  it('answers by request are checked against its schema, and taken once', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [waits({ suspend: 'limit' })] }));
    const id = await untilAskedBy(client, 'limit');
    const wrong = await answerAt(sessionId, id, { result: { value: 'many' } });
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { code: 'invalid_result' }]);
    expect((await answerAt(sessionId, id, { approved: true })).status).toBe(400);
    expect((await answerAt(sessionId, id, { result: { value: 9 } })).status).toBe(202);
    expect((await answerAt(sessionId, id, { result: { value: 8 } })).status).toBe(409);
    await until('the end', async () => (await loadSnapshot(url, sessionId)).status === 'ended');
    const { client: page } = await loadChat(CLIENT_7, { url, sessionId });
    expect(callsOf(page.chat.lastMessage)[0]).toMatchObject({
      output: { results: [{ value: 9 }] },
    });
  });

  it('a deadline that passes reaches the tool', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const plan = [{ suspend: 'soon', deadlineMs: 1_000 }];
    await client.chat.sendMessage(toScript({ calls: [waits(...plan)] }));
    await until('the end', async () => (await loadSnapshot(url, sessionId)).status === 'ended');
    const { client: page } = await loadChat(CLIENT_7, { url, sessionId });
    expect(callsOf(page.chat.lastMessage)).toMatchObject([
      { toolCallId: 'w1', output: { results: ['wait_expired'] } },
      { toolName: 'soon', state: 'output-error' },
    ]);
  });

  it('of a sub-agent asks in the conversation', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const child = [{ calls: [waits({ step: 'a' }, { suspend: 'below' })] }, { say: 'one' }];
    await client.chat.sendMessage(toScript({ calls: [delegate('d1', ...child)] }));
    const toolCallId = await untilAskedBy(client, 'below');
    await client.chat.addToolOutput({ tool: 'below', toolCallId, output: { value: 4 } });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'd1', output: 'one' },
      { toolName: 'below', output: { value: 4 } },
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it('a stop while it waits settles its question and its call', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [waits({ step: 'a' }, { suspend: 'q' })] }));
    await untilAskedBy(client, 'q');
    const stop = await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    expect(stop.status).toBe(202);
    await until('the end', async () => (await loadSnapshot(url, sessionId)).status === 'ended');
    const { client: page } = await loadChat(CLIENT_7, { url, sessionId });
    expect(callsOf(page.chat.lastMessage)).toMatchObject([
      { toolCallId: 'w1', state: 'output-error' },
      { toolName: 'q', state: 'output-error' },
    ]);
  });
});

describe('a tool that waits for a webhook', () => {
  it('gets the first request that fits; further ones change nothing, forged ones find nothing', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const plan = [{ webhook: 'paid' }, { suspend: 'q' }];
    await client.chat.sendMessage(toScript({ calls: [waits(...plan)] }));
    const hook = await untilSent(client, product.url);
    expect(callsOf(client.chat.lastMessage)).toHaveLength(1);
    const forged = `${hook.slice(0, -4)}AAAA`;
    expect(await callHook(forged, '{"value":1}')).toEqual([404, 'not_found']);
    expect(await callHook(`${url}/api/hooks/x`, '{}')).toEqual([404, 'not_found']);
    expect(await callHook(hook, '{"value":"many"}')).toEqual([400, 'invalid_result']);
    expect(await callHook(hook, '{')).toEqual([400, 'validation_error']);
    expect(await callHook(hook, `"${'x'.repeat(300_000)}"`)).toEqual([413, 'body_too_large']);
    const both = ['{"value":1}', '{"value":2}'].map((body) => callHook(hook, body));
    expect(await Promise.all(both)).toEqual([
      [200, 'accepted'],
      [200, 'accepted'],
    ]);
    const id = await untilPending(sessionId, 'q');
    expect(await callHook(hook, '{"value":3}')).toEqual([200, 'accepted']);
    expect((await answerAt(sessionId, id, { result: { value: 9 } })).status).toBe(202);
    await until('the end', async () => (await loadSnapshot(url, sessionId)).status === 'ended');
    expect(await callHook(hook, '{"value":4}')).toEqual([200, 'accepted']);
    const { client: page } = await loadChat(CLIENT_7, { url, sessionId });
    expect(callsOf(page.chat.lastMessage)[0]).toMatchObject({
      output: { results: [{ value: expect.any(Number) }, { value: 9 }] },
    });
  });

  it('a request after the deadline, or after a stop, is refused', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const plan = [{ webhook: 'paid', deadlineMs: 500 }];
    await client.chat.sendMessage(toScript({ calls: [waits(...plan)] }));
    await until('the end', async () => (await loadSnapshot(url, sessionId)).status === 'ended');
    const hook = await untilSent(client, product.url);
    expect(await callHook(hook, '{"value":1}')).toEqual([410, 'webhook_closed']);
    const { client: page } = await loadChat(CLIENT_7, { url, sessionId });
    expect(callsOf(page.chat.lastMessage)).toMatchObject([
      { output: { results: ['wait_expired'] } },
    ]);
    const stopped = newSessionId();
    const other = openChat(CLIENT_7, { url, sessionId: stopped });
    await other.chat.sendMessage(toScript({ calls: [waits({ webhook: 'paid' })] }));
    const second = await untilSent(other, product.url);
    await fetch(`${url}/api/chat/${stopped}/stop`, { method: 'POST' });
    expect(await callHook(second, '{"value":1}')).toEqual([410, 'webhook_closed']);
  });
});

describe('a webhook that is attacked', () => {
  it('takes only a POST with its own token and JSON, once, from any sender', async () => {
    const { sessionId, hook } = await askForPayment();
    const other = await askForPayment();
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
      const reply = await fetch(hook, { method });
      expect([method, reply.status]).toEqual([method, 404]);
    }
    const token = hook.split('/').at(-1) ?? '';
    const parts = JSON.parse(Buffer.from(token, 'base64url').toString()) as string[];
    const [session = '', call = '', secret = ''] = parts;
    const forge = (...forged: string[]): string =>
      hook.replace(token, Buffer.from(JSON.stringify(forged)).toString('base64url'));
    for (const forged of [
      forge(other.sessionId, call, secret),
      forge(session, 'w2', secret),
      forge(session, call, `${secret}a`),
      forge(session, call, 'A'.repeat(43)),
      forge(session, call),
      forge('*', call, secret),
      `${hook}${'A'.repeat(3_000)}`,
      `${hook}%00`,
    ]) {
      expect(await callHook(forged, '{"value":1}')).toEqual([404, 'not_found']);
    }
    for (const body of ['\u0000', 'value=1', '{"value":1}{}', gzipSync('{"value":1}')]) {
      const reply = await fetch(hook, { method: 'POST', body });
      expect([body, reply.status]).toEqual([body, 400]);
    }
    expect(await postEndless(hook)).toBe(413);
    const many = Array.from({ length: 20 }, (_, value) =>
      callHook(hook, JSON.stringify({ value, ['__proto__']: { value: -1 } })),
    );
    expect(new Set((await Promise.all(many)).map(String))).toEqual(new Set(['200,accepted']));
    expect(await resultsOf(sessionId)).toEqual([{ value: expect.any(Number) }]);
    expect(await callHook(other.hook, '{"value":7}')).toEqual([200, 'accepted']);
    expect(await resultsOf(other.sessionId)).toEqual([{ value: 7 }]);
  });

  it('of a reply that was regenerated, or of an erased conversation, does nothing', async () => {
    const { url } = product;
    const { sessionId, hook } = await askForPayment();
    const again = await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    expect(again.status).toBe(202);
    await until('the end', async () => (await loadSnapshot(url, sessionId)).status === 'ended');
    const { client } = await loadChat(CLIENT_7, { url, sessionId });
    await client.chat.regenerate();
    await until('another address', async () => {
      const text = JSON.stringify(client.messages());
      return text.includes('/api/hooks/') && !text.includes(new URL(hook).pathname);
    });
    const second = await untilSent(client, url);
    expect((await callHook(hook, '{"value":1}'))[0]).toBeGreaterThanOrEqual(404);
    expect(await callHook(second, '{"value":2}')).toEqual([200, 'accepted']);
    expect(await resultsOf(sessionId)).toEqual([{ value: 2 }]);
    await fetch(`${url}/api/chat/${sessionId}`, { method: 'DELETE' });
    expect(await callHook(second, '{"value":3}')).toEqual([404, 'not_found']);
  });
});

describe('a tool that waits, when its worker is killed', () => {
  const [sleeps, between, middle] = [newSessionId(), newSessionId(), newSessionId()];
  let hooked: { sessionId: string; hook: string }[];

  // All meet the same kill: a worker takes a while to start.
  beforeAll(async () => {
    const { url, redis } = product;
    const begin = (sessionId: string, ...plan: object[]): ChatClient => {
      const client = openChat(CLIENT_7, { url, sessionId });
      void client.chat.sendMessage(toScript({ calls: [waits(...plan)] }));
      return client;
    };
    begin(middle, { step: 'a' }, { step: 'b', ms: 60_000 });
    await until('the second step', async () => (await readExecutions(redis, middle))['b'] === 1);
    begin(sleeps, { step: 'a' }, { sleepMs: 8_000 }, { step: 'b' });
    await until('it sleeps', async () => (await loadStatus(sleeps)) === 'paused');
    hooked = await Promise.all([askForPayment('lab'), askForPayment('lab-leg')]);
    const asks = begin(
      between,
      { step: 'a' },
      { emit: 'between' },
      { suspend: 'q' },
      { step: 'b' },
    );
    // The event follows the recorded result: a worker killed before that leaves an unknown outcome.
    await until('the event', () => JSON.stringify(asks.messages()).includes('data-between'));
    await product.kill9Worker();
    await product.startWorker();
    const id = await untilPending(between, 'q');
    await product.kill9Worker();
    expect((await answerAt(between, id, { result: { value: 1 } })).status).toBe(202);
    for (const { hook } of hooked) {
      expect(await callHook(hook, '{"value":1}')).toEqual([200, 'accepted']);
      expect(await callHook(hook, '{"value":2}')).toEqual([200, 'accepted']);
      expect(await callHook(`${hook.slice(0, -4)}AAAA`, '{}')).toEqual([404, 'not_found']);
    }
    await product.startWorker();
  }, 120_000);

  async function loadStatus(sessionId: string): Promise<string | undefined> {
    const response = await fetch(`${product.url}/api/chat/${sessionId}/snapshot`);
    return ((await response.json()) as { status?: string }).status;
  }

  async function callAtTheEnd(sessionId: string) {
    await until('the end', async () => (await loadStatus(sessionId)) === 'ended');
    const { client: page } = await loadChat(CLIENT_7, { url: product.url, sessionId });
    expect(await readExecutions(product.redis, sessionId)).toEqual({ a: 1, b: 1 });
    return callsOf(page.chat.lastMessage)[0];
  }

  it('sleeps without a process, and the run continues when it is over', async () => {
    expect(await callAtTheEnd(sleeps)).toMatchObject({ output: { results: ['a', 'slept', 'b'] } });
  });

  it('in the middle of a step, has an unknown outcome', async () => {
    expect(await callAtTheEnd(middle)).toMatchObject({
      state: 'output-error',
      errorText: expect.stringContaining('not known'),
    });
  });

  it('between a step and its question, continues from the step', async () => {
    // Killed in the middle of the step, its outcome would be unknown.
    expect(await callAtTheEnd(between)).toMatchObject({
      output: { results: ['a', null, { value: 1 }, 'b'] },
    });
  });

  it('gets what was sent to its webhook while no worker ran, once, in both shapes', async () => {
    const results = hooked.map(({ sessionId }) => resultsOf(sessionId));
    expect(await Promise.all(results)).toEqual([[{ value: 1 }], [{ value: 1 }]]);
  });
});
