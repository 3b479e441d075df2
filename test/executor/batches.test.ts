import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { createBatches, type BatchRequest } from '../../executor/batches.js';
import { createMemoryStores } from '../../stores/memory/index.js';

const COUNTS = { total: 1, done: 0, skipped: 0, failed: 0, problems: [] };
const INPUT: BatchRequest = {
  batchId: 'b-1',
  act: 'stop',
  items: [['s-1:1-a']],
  rps: 1,
  refused: [],
  actor: { userId: 'olga', via: 'api' },
};

const newRecords = () => {
  const { batches } = createMemoryStores().store;
  if (batches === undefined) throw new Error('no batches');
  return batches;
};

/** A Temporal that answers so to a start, and to a question about a workflow. */
const temporal = (start: () => Promise<unknown>, describe: () => Promise<unknown>): Client =>
  ({
    connection: { withDeadline: (_: number, work: () => Promise<unknown>) => work() },
    workflow: { start, getHandle: () => ({ describe }) },
  }) as unknown as Client;

it('a batch that has begun is not refused when Temporal does not describe it', async () => {
  const away = (): Promise<never> => Promise.reject(Object.assign(new Error('away'), { code: 14 }));
  const batches = createBatches(
    temporal(() => Promise.resolve(), away),
    'q',
    newRecords(),
  );
  expect(await batches.start(INPUT)).toMatchObject({ batchId: 'b-1', status: 'running', total: 1 });
  await expect(batches.read('b-1')).rejects.toMatchObject({ code: 'unavailable' });
});

it('a batch that was begun before and has ended is read', async () => {
  const ended = {
    workflowId: 'helix-batch-b-1',
    status: { name: 'COMPLETED' },
    startTime: new Date(1),
    closeTime: new Date(2),
    memo: { counts: { ...COUNTS, done: 1 } },
  };
  const again = (): Promise<never> =>
    Promise.reject(new WorkflowExecutionAlreadyStartedError('', 'b-1', 'batch'));
  const batches = createBatches(
    temporal(again, () => Promise.resolve(ended)),
    'q',
    newRecords(),
  );
  expect(await batches.start(INPUT)).toMatchObject({ status: 'completed', done: 1 });
});

it('the names of a batch are in its record, and none in Temporal', async () => {
  const records = newRecords();
  const given: unknown[] = [];
  const start = (...args: unknown[]): Promise<void> => {
    given.push(args);
    return Promise.resolve();
  };
  const client = temporal(start, () => Promise.reject(new Error('away')));
  const refused = [{ target: 's-2:1-a', code: 'not_allowed' }];
  const request = { ...INPUT, reason: 'recalled', refused };
  const begun = await createBatches(client, 'q', records).start(request);
  expect(begun).toMatchObject({ by: 'olga', total: 2, failed: 1, problems: refused });
  expect(JSON.stringify(given)).toContain('"size":1');
  expect(JSON.stringify(given)).not.toMatch(/olga|recalled|s-1|s-2/);
  expect(await records.work('b-1')).toMatchObject({ reason: 'recalled', items: INPUT.items });
  expect(await records.about('b-1')).toEqual({ by: 'olga', problems: refused });
});
