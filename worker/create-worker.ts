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

/** Creates a worker of agent runs, without the extensions that every exported one has. */
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
