import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { loadSnapshot } from '../support/chat-client.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { until } from '../support/until.js';

let product: Product;
beforeAll(async () => {
  product = await startProduct({ env: { BUSY_POLICY: 'queue' } });
}, 60_000);
afterAll(() => product.stop());

it('BUSY_POLICY applies to messages that do not set their own policy', async () => {
  const sessionId = newSessionId();
  const post = (id: string, text: string, query = ''): Promise<Response> =>
    fetch(`${product.url}/api/chat/${sessionId}?agent=lab${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }] }),
    });
  const script = [{ calls: [{ tool: 'sleep', args: { ms: 600_000 } }] }];
  const first = await post('a', JSON.stringify({ script }));
  const second = await post('b', 'hello');
  expect([first.status, second.status]).toEqual([200, 200]);
  const refused = await post('c', 'me too', '&busy=reject');
  expect(refused.status).toBe(409);
  const { queue } = await loadSnapshot(product.url, sessionId);
  expect(queue).toHaveLength(1);
  await fetch(`${product.url}/api/chat/${sessionId}/stop`, { method: 'POST' });
  await until('what was queued is answered', async () =>
    JSON.stringify(await loadSnapshot(product.url, sessionId)).includes('You said'),
  );
  await first.body?.cancel();
  await second.body?.cancel();
}, 60_000);
