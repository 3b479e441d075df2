import type { OperatorForkReply } from '../../protocol/operator.js';
import { openAsked } from '../support/asked-chat.js';
import {
  CLIENT_7,
  CLIENTS,
  loadChat,
  loadSnapshot,
  openChat,
  textOf,
  toScript,
  untilEnded,
  untilRests,
} from '../support/chat-client.js';
import { expectStoredAsShown } from '../support/compare-messages.js';
import { charge, chargesOf } from '../support/lab-calls.js';
import { newSessionId, sharedTemporal, useProduct } from '../support/product.js';
import { storedRecord } from '../support/stored-record.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const TEXT = 'The run does not notice that no one listens to it. '.repeat(8);

const product = useProduct();
/** The API reaches its engines through these once it was killed for the first time. */
let temporal: TcpProxy;
let redis: TcpProxy;
beforeAll(async () => {
  temporal = await startTcpProxy(Number(sharedTemporal().split(':')[1]));
  redis = await startTcpProxy(product.redisServer.port);
});
afterAll(() => Promise.all([temporal.close(), redis.close()]));

/** Starts the API behind the proxies. */
async function startApi(): Promise<void> {
  for (const proxy of [temporal, redis]) proxy.cut();
  await product.startApi({
    TEMPORAL_ADDRESS: `127.0.0.1:${String(temporal.port)}`,
    REDIS_URL: `redis://127.0.0.1:${String(redis.port)}`,
  });
}

describe('kill -9 of the API', () => {
  it('an API that is killed in the middle of replies, and while an approval waits, loses nothing', async () => {
    const { url } = product;
    const asked = await openAsked(url, { calls: [charge('c1', 1)] });
    const pages = CLIENTS.map(([, library]) => {
      const sessionId = newSessionId();
      const client = openChat(library, { url, sessionId });
      const reply = client.chat.sendMessage(toScript({ say: TEXT, deltas: 200, everyMs: 30 }));
      return { library, sessionId, client, reply };
    });
    await until('some text', () => pages.every(({ client }) => client.reply().length > 20));
    await product.kill9Api();
    for (const { client, reply } of pages) {
      await reply;
      expect(client.chat.status).toBe('error');
      expect(TEXT.startsWith(client.reply())).toBe(true);
    }
    await asked.client.chat.addToolApprovalResponse({ id: asked.id, approved: true });
    await until('the client fails', () => asked.client.chat.status === 'error');
    await startApi();
    expect(product.url).toBe(url);
    // The page sends answers that did not get through again.
    asked.client.chat.clearError();
    await asked.client.chat.sendMessage();
    await untilRests(asked.client, url);
    expect(asked.client.reply()).toBe('done');
    expect(await chargesOf(product.redis, `${asked.sessionId}:`)).toEqual({ c1: 1 });
    await expectStoredAsShown(asked.client, url, asked.sessionId);
    for (const { library, sessionId } of pages) {
      const { client, resumed } = await loadChat(library, { url, sessionId });
      await resumed;
      await untilRests(client, url);
      expect(client.reply()).toBe(TEXT);
      await expectStoredAsShown(client, url, sessionId);
    }
  });

  it('a stopping API cuts its readers, which find the rest on another one', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const reply = client.chat.sendMessage(toScript({ say: TEXT, deltas: 200, everyMs: 20 }));
    await until('some text', () => client.reply().length > 20);
    await product.stopApi();
    await reply;
    // The page would take an orderly end for the end of the reply.
    expect(client.chat.status).toBe('error');
    await startApi();
    const { client: again, resumed } = await loadChat(CLIENT_7, { url, sessionId });
    await resumed;
    expect(again.reply()).toBe(TEXT);
    expect((await loadSnapshot(url, sessionId)).run?.status).toBe('completed');
  });
});

describe('kill -9 of the API between what it stores and what it tells Temporal', () => {
  /** Posts, and kills the API while it first sends Temporal this text. */
  async function dieBeforeTemporal(
    text: string,
    post: () => Promise<unknown>,
    untilTaken?: () => Promise<unknown>,
  ): Promise<void> {
    const held = temporal.holdAt(text, 'before');
    const posted = post();
    await held;
    await untilTaken?.();
    await product.kill9Api();
    await posted;
    await startApi();
  }

  async function expectReply(sessionId: string, text: string): Promise<void> {
    const { url } = product;
    await untilEnded(url, sessionId);
    const { client, resumed } = await loadChat(CLIENT_7, { url, sessionId });
    await resumed;
    expect(client.reply()).toBe(text);
    await expectStoredAsShown(client, url, sessionId);
  }

  it('the run of a stored message begins, and a stored answer reaches the run, once', async () => {
    const { url } = product;
    const asked = await openAsked(url, { calls: [charge('c1', 1)] });
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    await dieBeforeTemporal(
      sessionId,
      () => client.chat.sendMessage(toScript({ say: 'Once. ' })),
      // The API accepts messages even if Temporal is silent.
      () => until('it is taken', () => client.requests[0]?.status === 200),
    );
    // The bytes are the signal's name as a protobuf field; the API's sweep names the session, too.
    await dieBeforeTemporal('\u001a\u0004look', async () => {
      await asked.client.chat.addToolApprovalResponse({ id: asked.id, approved: true });
    });
    // No client has to return: a worker's sweeper starts the first run and wakes the second.
    await expectReply(sessionId, 'Once. ');
    await expectReply(asked.sessionId, 'done');
    expect(await chargesOf(product.redis, `${asked.sessionId}:`)).toEqual({ c1: 1 });
  });

  it('a fork whose copy is stored is continued, once, and found by its key', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const client = openChat(CLIENT_7, { url, sessionId });
    const echo = { tool: 'echo', id: 'e1', args: { value: 1 } };
    await client.chat.sendMessage(toScript({ say: 'One. ', calls: [echo] }, { say: 'Two.' }));
    await untilRests(client, url);
    const { run } = await loadSnapshot(url, sessionId);
    const copyId = newSessionId();
    const fork = (): Promise<Response> =>
      fetch(`${url}/api/operator/runs/${encodeURIComponent(run?.runId ?? '')}/fork`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': copyId },
        body: JSON.stringify({ step: 1, sessionId: copyId }),
      });
    // The server stores the copy, and the reply never arrives.
    const copied = redis.holdAt('"mode":"branch"', 'after');
    const lost = fork().catch(() => undefined);
    await copied;
    await until('the copy', async () => (await product.redis.exists(`hx:{${copyId}}:root`)) === 1);
    await product.kill9Api();
    await lost;
    await startApi();
    const isContinued = async (): Promise<boolean> => {
      const { status, messages } = await loadSnapshot(url, copyId);
      return status === 'ended' && messages.some((each) => textOf(each).startsWith('One. Two.'));
    };
    await until('the copy is continued', isContinued, 40_000);
    expect((await storedRecord(product.redis, copyId))?.run.n).toBe(1);
    // The claim of a dead request lasts a minute.
    await product.redis.del(await product.redis.keys('hx:request:*'));
    const again = await fork();
    expect(again.status).toBe(201);
    expect((await again.json()) as OperatorForkReply).toMatchObject({ sessionId: copyId });
  });
});
