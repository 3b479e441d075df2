import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { BatchPageInput, BatchPart } from '../../protocol/batch-run.js';
import { HelixError } from '../../protocol/errors.js';
import { createMemoryStores } from '../../stores/memory/index.js';
import { createBatchActivities } from '../../worker/agent-plugin.js';

Runtime.install({ logger: new DefaultLogger('ERROR') });

const RUN = 'canary:1-a';
const away = (): Promise<never> =>
  Promise.reject(new HelixError('unavailable', `${RUN} did not answer`));
const counts = { total: 1, done: 0, skipped: 0, failed: 0, problems: [] };

/** A batch of one run, and what its activities do. */
async function begin(stop: () => Promise<never>) {
  const { store } = createMemoryStores();
  const actor = { userId: 'olga', via: 'api' } as const;
  await store.batches?.save('b-1', { actor, items: [[RUN]], refused: 0 });
  const refuse = (): Promise<never> => Promise.reject(new Error('not asked for'));
  const activities = createBatchActivities({
    store,
    logger: { warn: () => undefined },
    runs: { stop, retry: refuse, submitToolResult: refuse },
  });
  const input = { batchId: 'b-1', act: 'stop', rps: 20, first: 0, from: 0, size: 1 } as const;
  const run = (): Promise<unknown> =>
    new MockActivityEnvironment().run<[BatchPageInput], BatchPart, typeof activities.batchPage>(
      activities.batchPage,
      input,
    );
  return { store, activities, run };
}

it('a page that fails tells Temporal the code alone, and is tried again', async () => {
  const { run } = await begin(away);
  const error = await run().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ type: 'unavailable', nonRetryable: false });
  expect(String((error as Error).stack)).not.toContain('canary');
  expect((error as Error).cause).toBeUndefined();
});

it('what a page refuses is named in the record, and not to Temporal', async () => {
  const { run, store } = await begin(() => Promise.reject(new HelixError('not_allowed', RUN)));
  const { total: _, ...none } = counts;
  expect(await run()).toEqual({ ...none, tried: 1, failed: 1 });
  expect(await store.batches?.about('b-1')).toEqual({
    by: 'olga',
    problems: [{ target: RUN, code: 'not_allowed' }],
  });
});

it('a page whose batch has ended fails for good', async () => {
  const { run, activities } = await begin(away);
  await activities.batchEnd('b-1');
  await expect(run()).rejects.toMatchObject({ type: 'not_found', nonRetryable: true });
});
