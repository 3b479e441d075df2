import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  callsOf,
  CLIENT_7,
  loadChat,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
  untilEnded,
  untilRests,
  type ChatClient,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { LAB_AGENTS } from '../support/lab-agents.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

function waits(tool: 'wait' | 'waitBriefly' = 'wait'): object {
  return { tool, id: 'w1', args: {} };
}

/** Waits for the webhook's address, which the tool emits as an event. */
async function untilSent(client: ChatClient, origin: string): Promise<string> {
  const path = await until(
    'the address',
    () => /\/api\/hooks\/[\w-]+/.exec(JSON.stringify(client.messages()))?.[0],
  );
  return origin + path;
}

async function callHook(url: string, body: string): Promise<[status: number, code: unknown]> {
  const response = await fetch(url, { method: 'POST', body });
  const { code, status } = (await response.json()) as { code?: string; status?: string };
  return [response.status, code ?? status];
}

const product = useProduct();

/** Begins a conversation whose tool waits for its webhook. */
async function askForPayment(agent = 'lab'): Promise<{ sessionId: string; hook: string }> {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId, agent });
  await client.chat.sendMessage(toScript({ calls: [waits()] }));
  return { sessionId, hook: await untilSent(client, url) };
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
    expect(await resultOf(sessionId)).toEqual({ value: expect.any(Number) });
    expect(await callHook(other.hook, '{"value":7}')).toEqual([200, 'accepted']);
    expect(await resultOf(other.sessionId)).toEqual({ value: 7 });
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
  it.each(LAB_AGENTS)(
    'of %s answers its call while the conversation asks a person',
    async (agent) => {
      const { url } = product;
      const sessionId = newSessionId();
      const client = openChat(CLIENT_7, { url, sessionId, agent });
      await client.chat.sendMessage(toScript({ calls: [waits(), charge('r1')] }));
      const hook = await untilSent(client, url);
      const id = await untilAsked(client, 'r1');
      expect(await callHook(hook, '{"value":1}')).toEqual([200, 'accepted']);
      expect((await loadSnapshot(url, sessionId)).status).toBe('paused');
      await client.chat.addToolApprovalResponse({ id, approved: true });
      // The page has not seen the result of the tool, so its stock condition sends nothing.
      await client.chat.sendMessage();
      await untilRests(client, url);
      expect(client.errors).toEqual([]);
      expect(client.reply()).toBe('done');
      expect(callsOf(client.chat.lastMessage)).toMatchObject([
        { toolCallId: 'w1', output: { value: 1 } },
        { toolCallId: 'r1', state: 'output-available' },
      ]);
      await expectStoredAsShown(client, url, sessionId);
    },
  );

  it('that is not called in time is an error, live as stored', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await client.chat.sendMessage(toScript({ calls: [waits('waitBriefly')] }));
    await untilEnded(url, sessionId);
    const hook = await untilSent(client, url);
    expect(await callHook(hook, '{"value":1}')).toEqual([410, 'webhook_closed']);
    const { client: page } = await loadChat(CLIENT_7, { url, sessionId });
    expect(callsOf(page.chat.lastMessage)).toMatchObject([{ state: 'output-error' }]);
    await expectStoredAsShown(page, url, sessionId);
  });
});

describe('a webhook whose worker is killed', () => {
  it('gives its tool what was sent while none ran, once, in both shapes', async () => {
    const asked = await Promise.all([askForPayment('lab'), askForPayment('lab-leg')]);
    await product.kill9Worker();
    for (const { hook } of asked) {
      expect(await callHook(hook, '{"value":1}')).toEqual([200, 'accepted']);
      expect(await callHook(hook, '{"value":2}')).toEqual([200, 'accepted']);
      expect(await callHook(`${hook.slice(0, -4)}AAAA`, '{}')).toEqual([404, 'not_found']);
    }
    await product.startWorker();
    const results = asked.map(({ sessionId }) => resultOf(sessionId));
    expect(await Promise.all(results)).toEqual([{ value: 1 }, { value: 1 }]);
  });
});
