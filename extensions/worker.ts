/** The entry `helix-temporal/runtime-temporal`: the worker with its standard extensions. */
import {
  createAgentPlugin as createPlugin,
  createAgentWorker as createWorker,
  type AgentPluginOptions,
  type AgentWorkerOptions,
} from '../worker/index.js';
import { metrics } from './metrics/index.js';

// oxlint-disable-next-line oxc/no-barrel-file -- The file lists its names.
export * from '../worker/index.js';
export { exportMetricsAt } from './metrics/exporter.js';

/** Adds agents to an existing worker of Temporal, with metrics. */
export function createAgentPlugin(options: AgentPluginOptions): ReturnType<typeof createPlugin> {
  return createPlugin({ ...options, extensions: withThose(options) });
}

/** Creates a worker of Temporal that executes runs, with metrics. */
export function createAgentWorker(options: AgentWorkerOptions): ReturnType<typeof createWorker> {
  return createWorker({ ...options, extensions: withThose(options) });
}

function withThose({ extensions = [] }: Pick<AgentPluginOptions, 'extensions'>) {
  return [metrics(), ...extensions];
}
