import { WorkflowNotFoundError } from '@temporalio/client';
import type { AuditReply } from '../../protocol/audit.js';
import type { OperatorForkReply } from '../../protocol/operator.js';
import { createKeySpace } from '../../store/redis/keys.js';
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
import { readOperator } from '../support/lab-run.js';
import { newSessionId, openTemporal, sharedTemporal, useProduct } from '../support/product.js';
import { storedCall, storedRecord } from '../support/stored-record.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

const TEXT = 'The run does not notice that no one listens to it. '.repeat(8);

const keys = createKeySpace();
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

function openNew(library: (typeof CLIENTS)[number][1] = CLIENT_7) {
  const sessionId = newSessionId();
  return { library, sessionId, client: openChat(library, { url: product.url, sessionId }) };
}

/** Expects this reply from a page that loads once the run has ended. */
async function expectReply(
  sessionId: string,
  text: string,
  library: (typeof CLIENTS)[number][1] = CLIENT_7,
): Promise<void> {
  const { url } = product;
  await untilEnded(url, sessionId);
  const { client, resumed } = await loadChat(library, { url, sessionId });
  await resumed;
  expect(client.reply()).toBe(text);
  await expectStoredAsShown(client, url, sessionId);
}

describe('kill -9 of the API', () => {
  it('an API that is killed in the middle of replies, and while an approval waits, loses nothing', async () => {
    const { url } = product;
    const asked = await openAsked(url, { calls: [charge('c1', 1)] });
    const pages = CLIENTS.map(([, library]) => {
      const page = openNew(library);
      const slowly = toScript({ say: TEXT, deltas: 200, everyMs: 30 });
      return { ...page, reply: page.client.chat.sendMessage(slowly) };
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
    const { sessionId, client } = openNew();
    const reply = client.chat.sendMessage(toScript({ say: TEXT, deltas: 200, everyMs: 30 }));
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

  it('between what it stores and what it does next, each of its requests is carried on, once', async () => {
    const { url } = product;
    const asked = await openAsked(url, { calls: [charge('c1', 1)] });
    const original = openNew();
    const echo = { tool: 'echo', id: 'e1', args: { value: 1 } };
    await original.client.chat.sendMessage(
      toScript({ say: 'One. ', calls: [echo] }, { say: 'Two.' }),
    );
    await untilRests(original.client, url);
    const { run } = await loadSnapshot(url, original.sessionId);
    const forgotten = openNew();
    await forgotten.client.chat.sendMessage(toScript({ say: 'Forget this.' }));
    const { run: last } = await untilEnded(url, forgotten.sessionId);
    const copyId = newSessionId();
    const fork = (): Promise<Response> =>
      fetch(`${url}/api/operator/runs/${encodeURIComponent(run?.runId ?? '')}/fork`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': copyId },
        body: JSON.stringify({ step: 1, sessionId: copyId }),
      });

    // Nothing that the API tells Temporal from its next message on arrives.
    const message = openNew();
    const held = temporal.holdAt(message.sessionId, 'before');
    const sent = message.client.chat.sendMessage(toScript({ say: 'Once. ' }));
    await held;
    // The API accepts messages even if Temporal is silent.
    await until('it is taken', () => message.client.requests[0]?.status === 200);
    void asked.client.chat.addToolApprovalResponse({ id: asked.id, approved: true });
    await until('the answer is stored', async () => {
      return (await storedCall(product.redis, asked.sessionId, 'c1'))?.state !== 'waiting';
    });
    const erasing = fetch(`${url}/api/chat/${forgotten.sessionId}`, { method: 'DELETE' }).catch(
      () => undefined,
    );
    const { root } = keys.session(forgotten.sessionId);
    await until('the record is gone', async () => (await product.redis.exists(root)) === 0);
    // The server stores the copy, and the reply never arrives.
    const copied = redis.holdAt('"mode":"branch"', 'after');
    const lost = fork().catch(() => undefined);
    await copied;
    await until('the copy', async () => (await product.redis.exists(`hx:{${copyId}}:root`)) === 1);
    await product.kill9Api();
    await Promise.all([sent, lost]);
    expect(await erasing).toBeUndefined();
    await startApi();

    // No client has to return: a worker's sweeper starts, wakes, continues and erases the runs.
    await expectReply(message.sessionId, 'Once. ');
    await expectReply(asked.sessionId, 'done');
    expect(await chargesOf(product.redis, `${asked.sessionId}:`)).toEqual({ c1: 1 });
    const isContinued = async (): Promise<boolean> => {
      const { status, messages } = await loadSnapshot(url, copyId);
      return status === 'ended' && messages.some((each) => textOf(each).startsWith('One. Two.'));
    };
    await until('the copy is continued', isContinued);
    expect((await storedRecord(product.redis, copyId))?.run.n).toBe(1);
    const handle = openTemporal().workflow.getHandle(`run:${last?.runId ?? ''}`);
    // Temporal deletes in the background: within seconds under TEST_TEMPORAL_CONFIG.
    const isDeleted = (): Promise<boolean> =>
      handle.describe().then(
        () => false,
        (error: unknown) => error instanceof WorkflowNotFoundError,
      );
    await until('its workflow is deleted', isDeleted);
    const acts = async (): Promise<string[]> =>
      (await readOperator<AuditReply>(product, 'audit?limit=500')).entries
        .filter(({ target }) => target.sessionId === forgotten.sessionId)
        .map(({ action }) => action)
        .reverse();
    await until('the erasure is complete', async () => (await acts()).includes('erased'));
    expect(await acts()).toEqual(['erase', 'erased']);
    expect(await product.redis.keys(`*${forgotten.sessionId}*`)).toEqual([]);
    // The claim of a dead request lasts a minute.
    await product.redis.del(await product.redis.keys('hx:request:*'));
    const again = await fork();
    expect(again.status).toBe(201);
    expect((await again.json()) as OperatorForkReply).toMatchObject({ sessionId: copyId });
  });
});
