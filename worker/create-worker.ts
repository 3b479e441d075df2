import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import { createAgentPlugin, type AgentPluginOptions } from './agent-plugin.js';

export interface AgentWorkerOptions extends AgentPluginOptions {
  connection: NativeConnection;
  /** Default: `default`. */
  namespace?: string;
  taskQueue: string;
  /** Name of this process in Temporal. Default: process id and host. */
  identity?: string;
  /** The converter of Temporal's `Worker`; clients need the same one. */
  dataConverter?: WorkerOptions['dataConverter'];
  interceptors?: WorkerOptions['interceptors'];
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
export function createAgentWorker(options: AgentWorkerOptions): Promise<Worker> {
  const { connection, namespace, taskQueue, identity, dataConverter, interceptors, ...agents } =
    options;
  return Worker.create({
    connection,
    taskQueue,
    dataConverter,
    interceptors,
    ...(namespace !== undefined && { namespace }),
    ...(identity !== undefined && { identity }),
    plugins: [createAgentPlugin(agents)],
  });
}
