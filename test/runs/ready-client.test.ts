import { randomUUID } from 'node:crypto';
import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { createAgentExecutor } from '../../runs/agent-executor.js';
import {
  createRunHarness,
  sharedTemporalAddress,
  type RunHarness,
} from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

const { agent } = createTestAgent();
let stores: TestStores;
let runs: RunHarness;
let connection: Connection;

beforeAll(async () => {
  stores = await openTestStores();
  runs = await createRunHarness(stores, [agent]);
  await runs.startWorker();
  connection = await Connection.connect({ address: sharedTemporalAddress() });
}, 60_000);
afterAll(() => connection.close());

it('an executor starts its runs through the client that a program gives it', async () => {
  const started: string[] = [];
  const watch: WorkflowClientInterceptor = {
    startWithDetails: (input, next) => {
      started.push(input.options.workflowId);
      return next(input);
    },
  };
  const client = new Client({
    connection,
    namespace: 'default',
    interceptors: { workflow: [watch] },
  });
  const executor = await createAgentExecutor({
    client,
    taskQueue: runs.taskQueue,
    agents: [agent],
    stores,
  });
  const handle = await executor.execute(agent, 'hello', { userId: randomUUID() });
  expect(await handle.result()).toMatchObject({ status: 'completed', text: 'You said hello' });
  expect(started).toEqual([`run:${handle.runId}`]);
  expect(executor.namespace).toBe('default');
});
