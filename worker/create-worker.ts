import { Worker, type NativeConnection } from '@temporalio/worker';
import { createAgentPlugin, type AgentPluginOptions } from './agent-plugin.js';

export interface AgentWorkerOptions extends AgentPluginOptions {
  connection: NativeConnection;
  /** Default: `default`. */
  namespace?: string;
  taskQueue: string;
  /** How operators see this process in Temporal. Default: process id and host. */
  identity?: string;
}

/**
 * A Temporal worker for agent runs and nothing else. `run()` ends after `shutdown()` or SIGTERM:
 * what is under way gets 30 s, the rest goes to another worker.
 */
export function createAgentWorker(options: AgentWorkerOptions): Promise<Worker> {
  const { connection, namespace, taskQueue, identity, ...agents } = options;
  return Worker.create({
    connection,
    taskQueue,
    ...(namespace !== undefined && { namespace }),
    ...(identity !== undefined && { identity }),
    plugins: [createAgentPlugin(agents)],
  });
}
