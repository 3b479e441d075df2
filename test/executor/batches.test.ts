import { expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { createBatches, type BatchRequest } from '../../executor/batches.js';
import { createMemoryStores } from '../../stores/memory/index.js';

const COUNTS = { total: 1, done: 0, skipped: 0, failed: 0, problems: [] };
const INPUT: BatchRequest = {
  ...{ batchId: 'b-1', act: 'stop', items: [['s-1:1-a']], rps: 1, refused: [] },
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
    ...{ workflowId: 'helix-batch-b-1', status: { name: 'COMPLETED' } },
    ...{ startTime: new Date(1), closeTime: new Date(2), memo: { counts: { ...COUNTS, done: 1 } } },
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
