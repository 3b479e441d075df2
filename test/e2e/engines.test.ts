import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Times } from '../../protocol/limits.js';
import { jsonOf, toMessage } from '../../store/redis/entries.js';
import { openAsked } from '../support/asked-chat.js';
import { loadSnapshot, toScript, untilRests } from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge } from '../support/lab-calls.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, sharedTemporal, startProduct, type Product } from '../support/product.js';
import { postMessage } from '../support/sse-reader.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

/** Proxy to the shared Temporal; retargeting it to NOWHERE takes Temporal away. */
let wire: TcpProxy;
const NOWHERE = 1;
let product: Product;
beforeAll(async () => {
  wire = await startTcpProxy(Number(sharedTemporal().split(':')[1]));
  product = await startProduct({
    temporalAddress: `127.0.0.1:${String(wire.port)}`,
    env: {
      HELIX_TIMES: JSON.stringify({ lookAgainMs: 1_500 } satisfies Partial<Times>),
      // As agents may, it keeps a timer, which must not keep a process that is to end.
      NODE_OPTIONS: '--import data:text/javascript,setInterval(String,1e6)',
    },
  });
});
afterAll(async () => {
  await product.stop();
  await wire.close();
});

/** Posts a message and returns the reply's status and its error code. */
async function postRaw(
  sessionId: string,
  message: { id: string; text: string },
): Promise<{ status: number; code: unknown }> {
  const response = await postJson(`${product.url}/api/chat/${sessionId}?agent=lab`, {
    message: { ...message, role: 'user', content: message.text },
  });
  const body = (await response.json()) as { error: string; code: string };
  return { status: response.status, code: body.code };
}

it('Temporal away: answers and messages are kept, runs stopped and erased; what is left goes on when it is back', async () => {
  const { url } = product;
  const { sessionId, client, id } = await openAsked(url, {
    say: 'May I?',
    calls: [charge('c1', 1)],
  });
  const [late, stopped, erased] = [newSessionId(), newSessionId(), newSessionId()];
  const temporal = wire.target();
  wire.retarget(NOWHERE);
  wire.cut();

  await client.chat.addToolApprovalResponse({ id, approved: true });
  // The request cannot wake the run while Temporal is away.
  await product.apiSays('the run could not be signalled');

  const message = { id: 'u1', text: toScript({ say: 'Late, but here.' }).text };
  const reader = await postMessage(url, late, message);
  expect(reader.status).toBe(200);
  expect((await loadSnapshot(url, late)).run).toMatchObject({ status: 'starting' });
  const readiness = await fetch(`${url}/readyz`);
  expect(readiness.status).toBe(200);
  expect(await readiness.json()).toMatchObject({ status: 'ok', away: ['temporal', 'worker'] });
  // A repeated message counts as the same message.
  const again = await postMessage(url, late, message);
  expect(again.status).toBe(200);

  for (const each of [stopped, erased]) {
    expect((await postMessage(url, each, { id: 'u1', text: 'hello' })).status).toBe(200);
  }
  const stop = await fetch(`${url}/api/chat/${stopped}/stop`, { method: 'POST' });
  expect(stop.status).toBe(202);
  expect(await loadSnapshot(url, stopped)).toMatchObject({
    status: 'ended',
    run: { status: 'interrupted' },
  });
  // The API still searches Temporal for workflows of the erased conversation.
  const erasure = fetch(`${url}/api/chat/${erased}`, { method: 'DELETE' });
  const isErased = async (): Promise<boolean> =>
    (await fetch(`${url}/api/chat/${erased}/snapshot`)).status === 404;
  await until('the conversation is erased', isErased);

  wire.retarget(temporal);
  expect((await erasure).ok).toBe(true);
  for (const each of [reader, again]) {
    expect(await each.done).toBe('ended');
    expect(each.text()).toBe('Late, but here.');
  }
  const { messages } = await loadSnapshot(url, late);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  await untilRests(client, url);
  expect(client.reply()).toBe('May I?done');
  await expectStoredAsShown(client, url, sessionId);
  await until('the product is ready again', product.isReady);
  const recovered = await postMessage(url, newSessionId(), { id: 'u1', text: 'hello' });
  expect(await recovered.done).toBe('ended');
  expect(await isErased()).toBe(true);
  expect((await loadSnapshot(url, stopped)).run).toMatchObject({ status: 'interrupted' });
});

describe('Redis', () => {
  it('a Redis that is killed in the middle of a reply leaves no gap and no duplicate in the same response', async () => {
    const { url, redisServer } = product;
    const sessionId = newSessionId();
    const words = Array.from({ length: 120 }, (_, n) => `${String(n)} `).join('');
    const text = toScript({ say: words, deltas: 60, everyMs: 100 }).text;
    const reader = await postMessage(url, sessionId, { id: 'u1', text });
    await until('some text', () => reader.text().length > 50);
    await redisServer.kill9();
    await redisServer.restart();
    expect(reader.text().length).toBeLessThan(words.length);
    expect(await reader.done).toBe('ended');
    expect(reader.text()).toBe(words);
    const { messages } = await loadSnapshot(url, sessionId);
    expect(messages.at(-1)?.parts.at(-1)).toMatchObject({ type: 'text', text: words });
  });

  it('that comes back older in the middle of a reply cuts readers, the run ends as lost without writing over the gap, and the next message is accepted', async () => {
    const { url, redisServer, redis } = product;
    const sessionId = newSessionId();
    const words = 'one two three four five six seven eight nine ten '.repeat(40);
    const message = { id: 'u1', text: toScript({ say: words, deltas: 400, everyMs: 25 }).text };
    const reader = await postMessage(url, sessionId, message);
    await until('some of the reply has come', () => reader.text().length > 100);
    const aof = join(redisServer.folder, 'appendonlydir');
    const backup = mkdtempSync(join(tmpdir(), 'helix-backup-'));
    cpSync(aof, backup, { recursive: true });
    const atBackup = reader.text();
    await until('more of it has come', () => reader.text().length > atBackup.length + 200);
    // As an operator would after losing a disk: the old file, at the same address.
    await redisServer.kill9();
    rmSync(aof, { recursive: true });
    cpSync(backup, aof, { recursive: true });
    rmSync(backup, { recursive: true });
    await redisServer.restart();

    expect(await reader.done).toBe('broken off');
    const lost = await until('the run is over', async () => {
      // The API replies 503 until it has found Redis again.
      const snapshot = await loadSnapshot(url, sessionId).catch(() => undefined);
      return snapshot?.status === 'failed' && snapshot;
    });
    const entries = await redis.xrange(`hx:{${sessionId}}:stream`, '-', '+');
    const text = entries
      .map(([, fields]) => toMessage(JSON.parse(jsonOf(fields)), sessionId))
      .map((message) => (message?.type === 'text_delta' ? message.delta : ''))
      .join('');
    // The remaining text is a prefix of the reply: no text follows the gap.
    expect(words.startsWith(text)).toBe(true);
    expect(text.length).toBeLessThan(reader.text().length);
    expect(entries.at(-2)?.[1][3]).toContain('state_lost');
    const lastShown = lost.streamSequence;
    expect(lastShown).toBeGreaterThan(entries.length);

    const next = await postMessage(url, sessionId, {
      id: 'u2',
      text: toScript({ say: 'Here again.' }).text,
    });
    expect(await next.done).toBe('ended');
    expect(next.text()).toBe('Here again.');
  });

  it('away: every request is refused in time, nothing is half taken, and processes stop on request', async () => {
    const { url, redisServer, redis } = product;
    const sessionId = newSessionId();
    await redisServer.stop();
    const refusal = await postRaw(sessionId, { id: 'u1', text: 'hello' });
    expect(refusal).toMatchObject({ status: 503, code: 'unavailable' });
    for (const path of ['snapshot', 'stream']) {
      const response = await fetch(`${url}/api/chat/${sessionId}/${path}`);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ code: 'unavailable' });
    }
    await redisServer.restart();
    const kept = await until('Redis is back', () => redis.keys('hx:*').catch(() => undefined));
    expect(kept.filter((key) => key.includes(sessionId))).toEqual([]);
    await until('the product is ready again', product.isReady);
    const text = toScript({ say: 'Back.' }).text;
    const reader = await postMessage(url, sessionId, { id: 'u1', text });
    expect(await reader.done).toBe('ended');
    expect(reader.text()).toBe('Back.');
    // Processes stop on request also while Redis is away.
    await redisServer.stop();
    await Promise.all([product.stopWorker(), product.stopApi()]);
  });
});
