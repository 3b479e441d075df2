/** The entry `helix-temporal/runtime-temporal`: the worker with its standard extensions. */
import {
  createAgentPlugin as createPlugin,
  createAgentWorker as createWorker,
  type AgentPluginOptions,
  type AgentWorkerOptions,
} from '../worker/index.js';
import { calledRuns } from './called-runs/index.js';
import { metrics } from './metrics/index.js';

// oxlint-disable-next-line oxc/no-barrel-file -- The file lists its names.
export * from '../worker/index.js';
export { exportMetricsAt } from './metrics/exporter.js';

/**
 * Adds agents to an existing Temporal worker: activities, workflow code and the settings that fast
 * recovery depends on (the worker's own settings take precedence). It sweeps while the worker runs.
 * One plugin serves one worker.
 *
 * The worker needs a `connection`. The workflow `agentRun` is added to the worker's own workflows. A
 * prebuilt workflow bundle must already contain it: pass this plugin to `bundleWorkflowCode` as well.
 *
 * @example
 * import { NativeConnection, Worker } from '@temporalio/worker';
 * import { defineAgent } from 'helix-temporal';
 * import { createAgentPlugin } from 'helix-temporal/runtime-temporal';
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const agent = defineAgent({
 *   name: 'guide',
 *   systemPrompt: 'Be brief.',
 *   llmConfig: { model: 'openai/gpt-5' },
 * });
 * const stores = createRedisStores({ url: 'redis://localhost:6379', whenAway: 'wait' });
 * const connection = await NativeConnection.connect();
 * const worker = await Worker.create({
 *   connection,
 *   taskQueue: 'agent-runs',
 *   plugins: [createAgentPlugin({ agents: [agent], stores })],
 * });
 * await worker.run();
 * // They would keep the process alive.
 * await Promise.all([stores.close(), connection.close()]);
 *
 * @throws Error from `Worker.create` if the worker has no connection, an activity with one of our
 * names, or a workflow bundle without `agentRun`
 */
export function createAgentPlugin(options: AgentPluginOptions): ReturnType<typeof createPlugin> {
  return createPlugin({ ...options, extensions: withThose(options) });
}

/**
 * Creates a Temporal worker that only serves agent runs. `run()` resolves after `shutdown()` or
 * SIGTERM: activities in progress get 30 s, the rest is handed to another worker.
 *
 * @example
 * import { NativeConnection } from '@temporalio/worker';
 * import { defineAgent } from 'helix-temporal';
 * import { createAgentWorker } from 'helix-temporal/runtime-temporal';
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const connection = await NativeConnection.connect();
 * const stores = createRedisStores({ url: 'redis://localhost:6379', whenAway: 'wait' });
 * const worker = await createAgentWorker({
 *   connection,
 *   taskQueue: 'agent-runs',
 *   agents: [
 *     defineAgent({ name: 'guide', systemPrompt: 'Be brief.', llmConfig: { model: 'openai/gpt-5' } }),
 *   ],
 *   stores,
 * });
 * await worker.run();
 * // They would keep the process alive.
 * await Promise.all([stores.close(), connection.close()]);
 */
export function createAgentWorker(options: AgentWorkerOptions): ReturnType<typeof createWorker> {
  return createWorker({ ...options, extensions: withThose(options) });
}

function withThose({ extensions = [] }: Pick<AgentPluginOptions, 'extensions'>) {
  return [metrics(), calledRuns(), ...extensions];
}
