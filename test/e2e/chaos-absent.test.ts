import { expect, it } from '@jest/globals';
import { useProduct } from '../support/product.js';

const product = useProduct({ env: { CHAOS: '1' } });

it('the API has no route that kills, whatever its settings', async () => {
  for (const path of ['/chaos/', '/chaos/act', '/api/chaos/act', '/api/chaos']) {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ act: 'kill-worker' });
    const reply = await fetch(product.url + path, { method: 'POST', headers, body });
    expect(reply.status).toBe(404);
  }
  expect(await product.isReady()).toBe(true);
});
