import { loadSnapshot, toScript } from '../support/chat-client.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { postMessage } from '../support/sse-reader.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { startTemporal, type TemporalServer } from '../support/temporal-server.js';
import { until } from '../support/until.js';

/** Between the API and Temporal; the worker has a way of its own. */
let wire: TcpProxy;
let temporal: TemporalServer;
let product: Product;
const env = (): Record<string, string> => ({
  TEMPORAL_ADDRESS: `127.0.0.1:${String(wire.port)}`,
  // Hundreds of messages of one user.
  MAX_REQUESTS_PER_MINUTE: '0',
  MAX_OPEN_STREAMS: '0',
});

beforeAll(async () => {
  temporal = await startTemporal();
  wire = await startTcpProxy(Number(temporal.address.split(':').at(-1)));
  product = await startProduct({ temporalAddress: temporal.address });
  await product.stopApi();
  await product.startApi(env());
  await until('the product is ready', product.isReady);
});
afterAll(async () => {
  await product.stop();
  await wire.close();
  await temporal.close();
});

describe('an engine that is slow', () => {
  it('a slow engine refuses none of a hundred messages that arrive at once', async () => {
    const text = toScript({ say: 'Hello.' }).text;
    const wrong = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const reader = await postMessage(product.url, newSessionId(), { id: 'u', text });
        const end = await reader.done;
        if (end === 'ended' && reader.text() === 'Hello.') return [];
        // The API waits 1.5 s for Redis: on a machine that runs other tests beside this one that may
        // be too short, which is no matter of the engine.
        if (reader.status === 503 && reader.body().includes('conversation store')) return [];
        return [`${String(reader.status)} ${reader.body()}`];
      }),
    );
    expect(wrong.flat()).toEqual([]);
  }, 120_000);

  it('a silent engine refuses no message, and the worker starts what the API could not', async () => {
    const { url } = product;
    const sessionId = newSessionId();
    const held = wire.holdAt(sessionId, 'before');
    const text = toScript({ say: 'Started elsewhere.' }).text;
    const reader = await postMessage(url, sessionId, { id: 'u1', text });
    expect(reader.status).toBe(200);
    await held;
    // It dies between the message and the start.
    await product.kill9Api();
    wire.cut();
    expect(await reader.done).toBe('cut');
    await product.startApi(env());
    const snapshot = await until(
      'the run has ended',
      async () => {
        const found = await loadSnapshot(url, sessionId);
        return found.status === 'ended' && found;
      },
      30_000,
    );
    expect(JSON.stringify(snapshot.messages.at(-1))).toContain('Started elsewhere.');
  });
});
