import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import * as temporalWorker from '@temporalio/worker';
import * as ai from 'ai';
import { z } from 'zod';
import * as agentsEntry from '../../agents/index.js';
import type { AgentDefinition } from '../../agents/index.js';
import * as redisEntry from '../../store/redis/index.js';
import * as workerEntry from '../../extensions/worker.js';
import { createScriptedModel } from '../../testing/index.js';
import { sharedTemporalAddress } from '../support/run-harness.js';
import { programsIn, runSource } from '../support/run-source.js';

const [agents = '', workflows = '', worker = ''] = programsIn('docs/from-temporal-ai-sdk.md');

const model = createScriptedModel([
  { calls: [{ tool: 'weather', args: { city: 'Rome' } }] },
  ({ prompt }) => ({ say: JSON.stringify(prompt).includes('21') ? 'A shirt.' : 'A coat.' }),
]);
const provider = globalThis.AI_SDK_DEFAULT_PROVIDER;
afterAll(() => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = provider;
});

it('the guide for users of @temporalio/ai-sdk has a workflow that calls an agent on a worker with the plugin', async () => {
  globalThis.AI_SDK_DEFAULT_PROVIDER = { languageModel: () => model } as never;
  const modules = {
    ai,
    zod: { z },
    '@temporalio/worker': temporalWorker,
    'helix-temporal': agentsEntry,
    'helix-temporal/runtime-temporal': workerEntry,
    'helix-temporal/store-redis': redisEntry,
  };
  const { adviser } = runSource(agents, modules) as { adviser: AgentDefinition };
  const { openStores, createWorker } = runSource(worker, modules) as {
    openStores: (url: string) => ReturnType<typeof redisEntry.createRedisStores>;
    createWorker: (...args: unknown[]) => Promise<temporalWorker.Worker>;
  };
  // The folder lies below the package, so that its name resolves to the sources.
  await mkdir('.data', { recursive: true });
  const folder = await mkdtemp(join(process.cwd(), '.data', 'guide-'));
  const workflowsPath = join(folder, 'workflows.ts');
  const source = workflows.replace('helix-temporal/workflows', '../../extensions/workflows.js');
  await writeFile(workflowsPath, source);

  const address = sharedTemporalAddress();
  const taskQueue = `advice-${randomUUID()}`;
  const stores = openStores(process.env['TEST_REDIS_URL'] ?? '');
  const native = await temporalWorker.NativeConnection.connect({ address });
  const connection = await Connection.connect({ address });
  const running = await createWorker(native, taskQueue, workflowsPath, [adviser], stores);
  const advice: unknown = await running.runUntil(
    new Client({ connection }).workflow.execute('advise', {
      taskQueue,
      workflowId: taskQueue,
      args: ['What do I wear in Rome?'],
    }),
  );
  expect(advice).toBe('A shirt.');
  await stores.close();
  await connection.close();
  await native.close();
  await rm(folder, { recursive: true });
});
