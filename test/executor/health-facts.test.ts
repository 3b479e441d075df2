import type { Client } from '@temporalio/client';
import { createHealthFacts } from '../../executor/health-facts.js';
import { HelixError } from '../../protocol/errors.js';
import { createMemoryStores } from '../../stores/memory/index.js';

/** A Temporal that does not answer. */
const client = {
  connection: { withDeadline: (_at: number, work: () => Promise<unknown>) => work() },
  workflowService: { describeTaskQueue: () => Promise.reject(new Error('away')) },
} as unknown as Client;

/** What is read while the store answers a question in this way. */
function read(standing?: () => Promise<never>) {
  const { store } = createMemoryStores();
  const waiting = standing === undefined ? store.waiting : { ...store.waiting, standing };
  const deps = { client, namespace: 'n', taskQueue: 'q' };
  return createHealthFacts({ ...deps, store: { ...store, waiting } })(60_000);
}

it('what is away is a fact, and an error of this code is thrown', async () => {
  const periodMs = 60_000;
  expect(await read()).toMatchObject({ periodMs, queues: undefined, record: { counts: {} } });
  const refuses = () => Promise.reject(new HelixError('unavailable', 'It refuses.'));
  expect(await read(refuses)).toEqual({ periodMs, record: { fault: 'It refuses.' } });
  const fails = () => Promise.reject(new Error('a fault'));
  await expect(read(fails)).rejects.toThrow('a fault');
});

it('a store that waits for its Redis without limit is not waited for', async () => {
  const hangs = () => new Promise<never>(() => undefined);
  expect((await read(hangs)).record).toEqual({ fault: 'The conversation store does not answer.' });
});

it('a period is compared with the same hours of each of the seven days before', async () => {
  const HOUR = 60 * 60_000;
  let now = Date.now();
  const { store } = createMemoryStores({ now: () => now });
  // One run in this hour of the day, two in another one, and one more each day.
  for (let day = 8; day >= 0; day -= 1) {
    await store.tallies?.add({ 'run:completed': 10 - day });
    now += 3 * HOUR;
    await store.tallies?.add({ 'run:completed': 100 });
    now += 21 * HOUR;
  }
  now -= 24 * HOUR;
  const deps = { client, namespace: 'n', taskQueue: 'q' };
  const { record } = await createHealthFacts({ ...deps, store })(HOUR);
  const runs = (count: number): object => ({ 'run:completed': count });
  expect(record).toMatchObject({ counts: runs(10), week: [9, 8, 7, 6, 5, 4, 3].map(runs) });
});
