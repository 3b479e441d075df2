import type { OperatorForkReply } from '../../protocol/operator.js';
import {
  CLIENT_7,
  loadSnapshot,
  openChat,
  textOf,
  toScript,
  untilRests,
} from '../support/chat-client.js';
import { newSessionId, useProduct } from '../support/product.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { storedRecord } from '../support/stored-record.js';

/** The API reaches Redis over a wire that a test can hold; its worker does not. */
const product = useProduct();
let wire: TcpProxy;

beforeAll(async () => {
  wire = await startTcpProxy(Number(new URL(product.redisServer.url).port));
  await product.kill9Api();
  await startApi();
});
afterAll(() => wire.close());

const startApi = (): Promise<void> =>
  product.startApi({ REDIS_URL: `redis://127.0.0.1:${String(wire.port)}` });

it('a fork whose API is killed between the copy and its run is continued, once, and found by its key', async () => {
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId });
  await client.chat.sendMessage(
    toScript(
      { say: 'One. ', calls: [{ tool: 'echo', id: 'e1', args: { value: 1 } }] },
      { say: 'Two.' },
    ),
  );
  await untilRests(client, url);
  const { run } = await loadSnapshot(url, sessionId);
  const copyId = newSessionId();
  const fork = (): Promise<Response> =>
    fetch(`${url}/api/operator/runs/${encodeURIComponent(run?.runId ?? '')}/fork`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': copyId },
      body: JSON.stringify({ step: 1, sessionId: copyId }),
    });
  // The copy is stored, and the reply never arrives.
  const copied = wire.holdAt('"mode":"branch"', 'after');
  const lost = fork().catch(() => undefined);
  await copied;
  await until('the copy', async () => (await product.redis.exists(`hx:{${copyId}}:root`)) === 1);
  await product.kill9Api();
  await lost;
  wire.cut();
  await startApi();
  await until(
    'the copy is continued',
    async () => {
      const snapshot = await loadSnapshot(product.url, copyId);
      return (
        snapshot.status === 'ended' &&
        snapshot.messages.some((message) => textOf(message).startsWith('One. Two.'))
      );
    },
    40_000,
  );
  expect((await storedRecord(product.redis, copyId))?.run.n).toBe(1);
  // A claim of a request that died lasts a minute.
  await product.redis.del(await product.redis.keys('hx:request:*'));
  const again = await fork();
  expect(again.status).toBe(201);
  expect((await again.json()) as OperatorForkReply).toMatchObject({ sessionId: copyId });
});
