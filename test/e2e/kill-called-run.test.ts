import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { newSessionId, sharedTemporal, useProduct } from '../support/product.js';
import { until } from '../support/until.js';
import { storedRecord } from '../support/stored-record.js';

const product = useProduct();
let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: sharedTemporal() });
});
afterAll(async () => {
  await connection.close();
});

it('a workflow whose worker is killed while its agent speaks gets the result of that one run', async () => {
  const sessionId = newSessionId();
  const script = [{ say: 'Slowly and in many pieces.', deltas: 20, everyMs: 100 }];
  const handle = await new Client({ connection }).workflow.start('runAgent', {
    workflowId: `caller-${randomUUID()}`,
    taskQueue: product.taskQueue,
    args: ['lab', JSON.stringify({ script }), { sessionId }],
  });
  await until(
    'the agent speaks',
    async () => (await storedRecord(product.redis, sessionId))?.run.status === 'running',
  );
  await product.kill9Worker();
  await product.startWorker();
  const result = (await handle.result()) as { runId: string };
  expect(result).toMatchObject({ status: 'completed', text: 'Slowly and in many pieces.' });
  expect(result.runId).toMatch(/:1-/);
});
