import { newSessionId, startProduct, type Product } from '../support/product.js';
import { scrape } from '../support/scrape.js';
import { postMessage } from '../support/sse-reader.js';
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

it('the worker that takes over counts the death, and the run ends once in all', async () => {
  const env = { WORKER_METRICS_PORT: '0' };
  const workers = [await fleet.start(env), await fleet.start(env)];
  const sessionId = newSessionId();
  const attempts = [{ say: 'The first attempt. '.repeat(20), deltas: 400, everyMs: 50 }, {}];
  const text = JSON.stringify({ script: [{ say: 'Done.', deltas: 1, attempts }] });
  const reader = await postMessage(product.url, sessionId, { id: 'u1', text });
  await until('the first attempt speaks', () => reader.text().includes('The first'));
  const dying = await fleet.workerOf(sessionId);
  const left = workers.find(({ id }) => id !== dying.id);
  const { metricsPort } = (await left?.says('worker runs')) ?? {};
  expect((await scrape(metricsPort)).sum('helix_lease_judgements_total')).toBe(0);
  await dying.kill9();

  const after = await until('the run is counted', async () => {
    const scraped = await scrape(metricsPort);
    const ended = scraped.sum('helix_runs_ended_total', { status: 'completed' });
    return ended === undefined ? undefined : scraped;
  });
  expect(after.sum('helix_runs_ended_total')).toBe(1);
  expect(after.sum('helix_lease_judgements_total')).toBe(1);
  expect(after.sum('helix_take_overs_total', { outcome: 'done' })).toBe(1);
  expect(after.sum('helix_step_attempts_total', { outcome: 'committed' })).toBe(1);
  // The call of the dead worker was never over, so that no process counted it.
  expect(after.sum('gen_ai_client_inference_duration_seconds_count')).toBe(1);
}, 60_000);
