import type { LegOutcome, LegRef } from '../../protocol/activities.js';
import { openHistories, type Histories } from '../support/history-of.js';
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
afterAll(async () => {
  await histories.close();
  await fleet.stop();
  await product.stop();
});

const parse = (payload: { data?: Uint8Array | null } | undefined): unknown =>
  JSON.parse(Buffer.from(payload?.data ?? []).toString());

it('a leg that was lost with its worker leaves its steps, and how far the log has come, to its successor', async () => {
  await Promise.all([fleet.start(), fleet.start()]);
  const sessionId = newSessionId();
  const call = (id: string) => ({ calls: [{ tool: 'echo', id, args: { value: 1 } }] });
  const attempts = [{ say: 'First.', hangMs: 120_000 }, {}];
  const script = [call('a'), call('b'), { say: 'Second.', deltas: 1, attempts }];
  const message = { id: 'u1', text: JSON.stringify({ script }) };
  await postMessage(product.url, sessionId, message, {}, 'lab-leg');
  await until('two steps are left', async () => {
    const [[, work] = []] = await fleet.workOf(sessionId);
    const { steps = [] } = (work?.progress ?? {}) as Partial<LegOutcome>;
    return steps.length === 2 && steps[1]?.calls?.length === 1;
  });
  await (await fleet.workerOf(sessionId)).kill9();
  const isOver = async (): Promise<boolean> =>
    (await storedRecord(product.redis, sessionId))?.run.status === 'completed';
  await until('the run ends', isOver, 60_000);
  const events = await until('its leg has ended', async () => {
    const all = await histories.of(sessionId);
    return all.some((event) => event.workflowExecutionCompletedEventAttributes) ? all : undefined;
  });
  const results = events.flatMap(({ activityTaskCompletedEventAttributes: ended }) =>
    ended == null ? [] : [parse(ended.result?.payloads?.[0]) as LegOutcome],
  );
  expect(results.at(-1)?.steps).toMatchObject([
    { step: 1, model: expect.any(String), calls: [{ tool: 'echo', outcome: 'ok' }] },
    { step: 2, model: expect.any(String), calls: [{ tool: 'echo', outcome: 'ok' }] },
    { step: 3, model: expect.any(String) },
  ]);
  const asked = events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled == null ? [] : [parse(scheduled.input?.payloads?.[0]) as LegRef],
  );
  expect(asked).toHaveLength(2);
  const replaced = asked[1]?.replaces?.progress as { known: number } | undefined;
  expect(replaced?.known).toBeGreaterThan(asked[0]?.at.sequence ?? 0);
}, 120_000);
