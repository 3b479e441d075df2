import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { createAgentPlugin } from '../../worker/index.js';
import {
  createRunHarness,
  sharedTemporalAddress,
  type RunHarness,
} from '../support/run-harness.js';
import { createTestAgent } from '../support/test-agent.js';
import { openTestStores, type TestStores } from '../support/test-stores.js';

let stores: TestStores;
let connection: NativeConnection;
let runs: RunHarness;
const { agent } = createTestAgent();
const workflowsPath = fileURLToPath(new URL('./workflows-without-agents.ts', import.meta.url));

beforeAll(async () => {
  stores = await openTestStores('worker');
  connection = await NativeConnection.connect({ address: sharedTemporalAddress() });
  runs = await createRunHarness(stores, [agent]);
});

afterAll(() => connection.close());

const createPlugin = (): ReturnType<typeof createAgentPlugin> =>
  createAgentPlugin({ agents: [agent], stores, sweep: false });

/** Expects that an agent runs, and the worker's own workflows, including the default export. */
async function expectAll(worker: Worker): Promise<void> {
  await worker.runUntil(async () => {
    const run = await runs.begin(runs.newSessionId(), agent.name, 'hello');
    expect(await runs.result(run)).toMatchObject({ status: 'completed' });
    const execute = (type: string): Promise<unknown> =>
      runs.client.workflow.execute(type, {
        workflowId: `${type}-${runs.newSessionId()}`,
        taskQueue: runs.taskQueue,
        args: ['ann'],
      });
    expect(await execute('greet')).toBe('hello ann');
    expect(await execute('unheardOf')).toBe('another type');
  });
}

describe('a worker whose own workflows do not export agentRun', () => {
  it('a worker whose own workflows lack agentRun runs agents, since the plugin adds it', async () => {
    const { taskQueue } = runs;
    await expectAll(
      await Worker.create({ connection, taskQueue, workflowsPath, plugins: [createPlugin()] }),
    );
  });

  it('a worker whose bundle lacks agentRun is refused at its start, in memory or in a file', async () => {
    const { code } = await bundleWorkflowCode({ workflowsPath });
    const folder = await mkdtemp(join(tmpdir(), 'helix-bundle-'));
    try {
      const codePath = join(folder, 'bundle.js');
      await writeFile(codePath, code);
      for (const workflowBundle of [{ code }, { codePath }]) {
        const options = { connection, taskQueue: runs.taskQueue, workflowBundle };
        await expect(Worker.create({ ...options, plugins: [createPlugin()] })).rejects.toThrow(
          /has no "agentRun".*bundleWorkflowCode/s,
        );
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('a worker whose workflows were bundled with the plugin runs agents', async () => {
    const workflowBundle = await bundleWorkflowCode({ workflowsPath, plugins: [createPlugin()] });
    const { taskQueue } = runs;
    await expectAll(
      await Worker.create({ connection, taskQueue, workflowBundle, plugins: [createPlugin()] }),
    );
  });
});
