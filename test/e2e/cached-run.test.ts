import { hostname } from 'node:os';
import { openHistories, type Histories } from '../support/history-of.js';
import { charge } from '../support/lab-calls.js';
import { printFigure } from '../support/print-figure.js';
import { newSessionId, startProduct, type Product } from '../support/product.js';
import { postMessage } from '../support/sse-reader.js';
import { until } from '../support/until.js';
import { startFleet, type WorkerFleet } from '../support/worker-fleet.js';
import { storedRecord } from '../support/stored-record.js';

let product: Product;
let fleet: WorkerFleet;
let histories: Histories;
beforeAll(async () => {
  product = await startProduct();
  fleet = await startFleet(product);
  histories = openHistories(product.redis);
});
afterEach(() => fleet.stop());
afterAll(async () => {
  await histories.close();
  await product.stop();
});

async function untilStatus(sessionId: string, status: string): Promise<void> {
  const isIt = async (): Promise<boolean> =>
    (await storedRecord(product.redis, sessionId))?.run.status === status;
  await until(`the run is ${status}`, isIt, 30_000);
}

it('an answer does not wait for the worker that had cached the run and was killed', async () => {
  const workers = await Promise.all([fleet.start(), fleet.start()]);
  const sessionId = newSessionId();
  const text = JSON.stringify({ script: [{ calls: [charge('c1')] }, { say: 'Charged.' }] });
  await postMessage(product.url, sessionId, { id: 'u1', text });
  await untilStatus(sessionId, 'waiting_approval');
  const cached = await until('a worker has cached the run, which rests', async () => {
    const events = await histories.of(sessionId);
    const last = events.findLastIndex((event) => event.workflowTaskCompletedEventAttributes);
    const isAtWork = events
      .slice(last)
      .some(
        (event) =>
          event.workflowTaskScheduledEventAttributes ?? event.activityTaskScheduledEventAttributes,
      );
    const by = events[last]?.workflowTaskCompletedEventAttributes?.identity;
    return !isAtWork && workers.find(({ pid }) => by === `${String(pid)}@${hostname()}`);
  });
  await cached.kill9();
  await until('its death is noticed', async () => {
    const held = await product.redis.zrange('hx:leases:default', '0', '-1');
    return !held.some((lease) => lease.startsWith(`${cached.id}.`));
  });
  const before = (await histories.of(sessionId)).length;
  const answeredAt = performance.now();
  const answer = await fetch(`${product.url}/api/chat/${sessionId}/pending/c1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ approved: true }),
  });
  expect(answer.status).toBe(202);
  await untilStatus(sessionId, 'completed');
  const ms = Math.round(performance.now() - answeredAt);
  printFigure(`An answer after the worker that cached the run died: ${String(ms)} ms to its end.`);
  const events = (await histories.of(sessionId)).slice(before);
  // The server would have waited for the dead worker.
  expect(events.filter((event) => event.workflowTaskTimedOutEventAttributes)).toEqual([]);
}, 120_000);
