import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { UIMessage } from 'ai';
import express from 'express';
import { listen } from '../../api/listen.js';
import { createWebhookRate } from '../../api/middleware/limits.js';
import { HelixError } from '../../protocol/errors.js';
import {
  callsOf,
  CLIENT_7,
  CLIENTS,
  type ClientLibrary,
  loadChat,
  loadSnapshot,
  openChat,
  textOf,
  toScript,
  untilAsked,
  untilEnded,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge, delegate } from '../support/lab-calls.js';
import { useLocalProduct } from '../support/local-product.js';
import { newSessionId } from '../support/product.js';
import { until } from '../support/until.js';
import { callHook, untilSent, WAITS } from '../support/webhook-chat.js';
import { startOnMemory, type ApiServer } from './api-server.js';

const PATH = '/api/hooks/token-1';

let api: ApiServer;

/** An app whose tools wait for webhooks, and for which every caller is a stranger. */
async function serve(
  callWebhook: (token: string, payload: unknown) => Promise<void>,
): Promise<ApiServer> {
  api = await startOnMemory({ instead: { callWebhook } });
  return api;
}

async function read(reply: Response): Promise<[number, string | undefined]> {
  const { status, code } = (await reply.json()) as { status?: string; code?: string };
  return [reply.status, status ?? code];
}

describe('a webhook', () => {
  it('takes any JSON, also none, from any address and without an account', async () => {
    const taken: unknown[] = [];
    const { post, url } = await serve((token, payload) => {
      taken.push([token, payload]);
      return Promise.resolve();
    });
    const elsewhere = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' };
    expect(await read(await post(PATH, { a: [1] }, elsewhere))).toEqual([200, 'accepted']);
    expect(await read(await post(PATH, '2', { 'content-type': 'text/plain' }))).toEqual([
      200,
      'accepted',
    ]);
    expect(await read(await fetch(url + PATH, { method: 'POST' }))).toEqual([200, 'accepted']);
    expect(taken).toEqual([
      ['token-1', { a: [1] }],
      ['token-1', 2],
      ['token-1', null],
    ]);
    const largest = JSON.stringify('x'.repeat(262_142));
    expect(await read(await post(PATH, largest))).toEqual([200, 'accepted']);
  });

  it('refuses by name, and what it refuses never reaches a tool', async () => {
    const codes = ['not_found', 'webhook_closed', 'invalid_result'] as const;
    let called = 0;
    const { post } = await serve(() => {
      const code = codes[called];
      called += 1;
      return Promise.reject(new HelixError(code ?? 'internal_error', 'No.'));
    });
    for (const [at, status] of [404, 410, 400].entries()) {
      expect(await read(await post(PATH, {}))).toEqual([status, codes[at]]);
    }
    expect(await read(await post(PATH, '{"a"'))).toEqual([400, 'validation_error']);
    expect(await read(await post(PATH, `${'['.repeat(501)}${']'.repeat(501)}`))).toEqual([
      400,
      'validation_error',
    ]);
    expect(await read(await post(PATH, JSON.stringify('x'.repeat(262_143))))).toEqual([
      413,
      'body_too_large',
    ]);
    expect(called).toBe(3);
  });

  it('is limited by address', async () => {
    const { post } = await serve(() => Promise.resolve());
    const { headers } = await post(PATH, {});
    const [limit, left] = ['limit', 'remaining'].map((name) => headers.get(`ratelimit-${name}`));
    expect([limit, left]).toEqual(['600', '599']);
    const app = express().post('/', createWebhookRate(1), (_request, response) => {
      response.end();
    });
    const server = await listen(app, 0, '127.0.0.1');
    atEndOfFile(server.close);
    const send = (): Promise<Response> =>
      fetch(`http://127.0.0.1:${String(server.port)}`, { method: 'POST' });
    expect([(await send()).status, (await send()).status]).toEqual([200, 429]);
  });
});

const product = useLocalProduct();

/** Begins a conversation whose tool waits for its webhook. */
async function askForPayment(): Promise<{ sessionId: string; hook: string }> {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId });
  await client.chat.sendMessage(toScript({ calls: [WAITS] }));
  return { sessionId, hook: await untilSent(client, url) };
}

/** Waits until a paused conversation has this many open questions. */
function untilAsks(sessionId: string, count: number): Promise<{ messages: UIMessage[] }> {
  return until(`${String(count)} questions`, async () => {
    const snapshot = await loadSnapshot(product.url, sessionId);
    const { pending = [], status } = snapshot;
    return status === 'paused' && pending.length === count ? snapshot : undefined;
  });
}

/**
 * Opens a page that knows the question `r1`, then lets a sub-agent behind its webhook ask `c1`.
 *
 * @returns the page, the approval's id, and the messages with both questions
 */
async function askTwice(library: ClientLibrary) {
  const { url, stores } = product;
  const sessionId = newSessionId();
  const page = openChat(library, { url, sessionId });
  const locate = { tool: 'locate', id: 'c1', args: {} };
  const child = delegate('d1', { calls: [WAITS] }, { calls: [locate] }, { say: 'ok' });
  await page.chat.sendMessage(toScript({ calls: [charge('r1'), child] }));
  const id = await untilAsked(page, 'r1');
  const [path] = await until('the address', async () => {
    const log = await stores.streamManager.read(sessionId, 0, 1_000);
    return /\/api\/hooks\/[\w-]+/.exec(JSON.stringify(log)) ?? undefined;
  });
  expect(await callHook(url + path, '{"value":1}')).toEqual([200, 'accepted']);
  const { messages } = await untilAsks(sessionId, 2);
  return { sessionId, page, id, messages };
}

/** Waits for the tool's result. */
async function resultOf(sessionId: string): Promise<unknown> {
  const { url } = product;
  await untilEnded(url, sessionId);
  const { client: page } = await loadChat(CLIENT_7, { url, sessionId });
  const [call] = callsOf(page.chat.lastMessage);
  return call?.output;
}

/** Sends an endless body and returns the reply's status. */
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

describe('a webhook that is attacked', () => {
  it('takes only a POST with JSON, and one of many that come at once', async () => {
    const { sessionId, hook } = await askForPayment();
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
      const reply = await fetch(hook, { method });
      expect([method, reply.status]).toEqual([method, 404]);
    }
    for (const forged of [`${hook}${'A'.repeat(3_000)}`, `${hook}%00`]) {
      expect(await callHook(forged, '{"value":1}')).toEqual([404, 'not_found']);
    }
    for (const body of ['\u0000', 'value=1', '{"value":1}{}', gzipSync('{"value":1}')]) {
      const reply = await fetch(hook, { method: 'POST', body });
      expect([body, reply.status]).toEqual([body, 400]);
    }
    expect(await postEndless(hook)).toBe(413);
    const many = Array.from({ length: 20 }, (_, value) =>
      // A byte order mark is no part of the JSON.
      callHook(hook, `\uFEFF${JSON.stringify({ value, ['__proto__']: { value: -1 } })}`),
    );
    expect(new Set((await Promise.all(many)).map(String))).toEqual(new Set(['200,accepted']));
    expect(await resultOf(sessionId)).toEqual({ value: expect.any(Number) });
  });

  it('of a reply that was regenerated, or of an erased conversation, does nothing', async () => {
    const { url } = product;
    const { sessionId, hook } = await askForPayment();
    const again = await fetch(`${url}/api/chat/${sessionId}/stop`, { method: 'POST' });
    expect(again.status).toBe(202);
    await untilEnded(url, sessionId);
    const { client } = await loadChat(CLIENT_7, { url, sessionId });
    await client.chat.regenerate();
    await until('another address', async () => {
      const text = JSON.stringify(client.messages());
      return text.includes('/api/hooks/') && !text.includes(new URL(hook).pathname);
    });
    const second = await untilSent(client, url);
    expect((await callHook(hook, '{"value":1}'))[0]).toBeGreaterThanOrEqual(404);
    expect(await callHook(second, '{"value":2}')).toEqual([200, 'accepted']);
    expect(await resultOf(sessionId)).toEqual({ value: 2 });
    await fetch(`${url}/api/chat/${sessionId}`, { method: 'DELETE' });
    expect(await callHook(second, '{"value":3}')).toEqual([404, 'not_found']);
  });
});

describe('a webhook', () => {
  it('answers its call while the conversation asks a person', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [WAITS, charge('r1')] }));
    const hook = await untilSent(client, url);
    const id = await untilAsked(client, 'r1');
    expect(await callHook(hook, '{"value":1}')).toEqual([200, 'accepted']);
    expect((await loadSnapshot(url, sessionId)).status).toBe('paused');
    await client.chat.addToolApprovalResponse({ id, approved: true });
    await untilRests(client, url);
    expect(client.errors).toEqual([]);
    expect(client.reply()).toBe('done');
    expect(callsOf(client.chat.lastMessage)).toMatchObject([
      { toolCallId: 'w1', output: { value: 1 } },
      { toolCallId: 'r1', state: 'output-available' },
    ]);
    await expectStoredAsShown(client, url, sessionId);
  });

  it.each([
    ['asked', ['c1', 'r1'], true],
    ['denied', ['r1', 'c1'], false],
  ] as const)(
    'before a sub-agent asks leaves every open question in the last step: %s',
    async (_, order, approved) => {
      const { url } = product;
      for (const [, library] of CLIENTS) {
        const { sessionId, page, id } = await askTwice(library);
        let client = page;
        if (approved) {
          const loaded = await loadChat(library, { url, sessionId });
          await loaded.resumed;
          ({ client } = loaded);
        }
        for (const call of order) {
          if (call === 'r1') await client.chat.addToolApprovalResponse({ id, approved });
          else await client.chat.addToolOutput({ tool: 'locate', toolCallId: call, output: {} });
          await untilRests(client, url);
        }
        await untilEnded(url, sessionId);
        await untilRests(client, url);
        expect([client.errors, client.reply()]).toEqual([[], 'done']);
        await expectStoredAsShown(client, url, sessionId);
      }
    },
  );

  it('shows a page the question that another page answered before it knew it', async () => {
    const { url } = product;
    for (const [, library] of CLIENTS) {
      const { sessionId, page: client, id, messages } = await askTwice(library);
      const call = callsOf(messages.at(-1)).find(({ toolCallId }) => toolCallId === 'c1');
      Object.assign(call ?? {}, { state: 'output-available', output: {} });
      const copy = JSON.stringify({ id: sessionId, agent: 'lab', messages });
      const headers = { 'content-type': 'application/json' };
      const reply = await fetch(`${url}/api/chat`, { method: 'POST', headers, body: copy });
      await reply.text();
      await untilAsks(sessionId, 1);
      await client.chat.addToolApprovalResponse({ id, approved: true });
      await untilRests(client, url);
      await untilEnded(url, sessionId);
      expect([client.errors, client.reply()]).toEqual([[], 'done']);
      await expectStoredAsShown(client, url, sessionId);
    }
  });

  it('that alone is left after the answers keeps stock chats from posting them again', async () => {
    const { url } = product;
    for (const [, library] of CLIENTS) {
      const sessionId = newSessionId();
      const client = openChat(library, { url, sessionId });
      await client.chat.sendMessage(toScript({ calls: [WAITS, charge('r1')] }));
      const hook = await untilSent(client, url);
      const id = await untilAsked(client, 'r1');
      await client.chat.addToolApprovalResponse({ id, approved: true });
      await untilRests(client, url);
      expect([client.errors, client.posts()]).toEqual([[], 2]);
      expect(callsOf(client.chat.lastMessage)).toMatchObject([
        { toolCallId: 'w1', state: 'input-available' },
        { toolCallId: 'r1', state: 'output-available' },
      ]);
      expect(await callHook(hook, '{"value":1}')).toEqual([200, 'accepted']);
      const { messages } = await untilEnded(url, sessionId);
      expect(textOf(messages[1] as UIMessage)).toBe('done');
    }
  });
});
