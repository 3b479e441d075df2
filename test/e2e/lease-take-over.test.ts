import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { postMessage, readSse } from '../support/sse-reader.js';
import { until } from '../support/until.js';
import { startFleet, type WorkerFleet } from '../support/worker-fleet.js';

let product: Product;
let fleet: WorkerFleet;
beforeAll(async () => {
  product = await startProduct();
  fleet = await startFleet(product);
});
afterAll(async () => {
  await fleet.stop();
  await product.stop();
});
beforeEach(() => fleet.stop());

const FIRST = 'The first attempt says this. '.repeat(20);
const SECOND = 'The second attempt says that.';
const script = JSON.stringify({
  script: [
    {
      say: SECOND,
      deltas: 1,
      everyMs: 5,
      attempts: [{ say: FIRST, deltas: 400, everyMs: 50 }, {}],
    },
  ],
});

describe('a worker that is killed', () => {
  it('its step is taken over by another worker', async () => {
    const times: number[] = [];
    const all = await Promise.all([fleet.start('a0'), fleet.start('b0')]);
    for (let round = 0; round < Number(process.env['ROUNDS'] ?? 1); round += 1) {
      const sessionId = newSessionId();
      const reader = await postMessage(product.url, sessionId, { id: 'u1', text: script });
      await until('it speaks', () => reader.text().includes('The first'));
      const { id, worker } = await fleet.workerOf(sessionId);
      await worker.kill9();
      const killedAt = performance.now();
      await until('it is taken over', async () => {
        const log = await product.redis.xrange(`hx:{${sessionId}}:stream`, '-', '+');
        return JSON.stringify(log).includes('second');
      }, 8000).catch(async (e) => {
        console.log(all.map((w) => w.log()).join('---'), id);
        for (const k of await product.redis.keys('hx:lease*')) console.log(k, await product.redis.type(k), await product.redis.hgetall(k).catch(() => product.redis.zrange(k, 0, -1, 'WITHSCORES').catch(() => product.redis.get(k))));
        throw e;
      });
      times.push(Math.round(performance.now() - killedAt));
      await fleet.start(`${id.slice(0, 1)}${String(round + 1)}`, { ENDED_LEASE_ID: id });
      const again = await readSse(`${product.url}/api/chat/${sessionId}/stream`).catch(() => undefined);
      void again;
    }
    console.log(times.sort((a, b) => a - b).join(' '));
    expect(times.length).toBeGreaterThan(0);
  }, 300_000);
});
