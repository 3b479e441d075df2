/** The Temporal runtime: the executor for API processes, activities and worker for workers. */
export { createActivities } from '../activities/index.js';
export type { ActivityDeps } from '../activities/index.js';
export {
  createRunWorkflows,
  createSweep,
  createTemporalExecutor,
  registerSearchAttributes,
} from '../executor/index.js';
export type { AgentExecutor, TemporalAgentExecutor } from '../executor/index.js';
export { createAgentPlugin } from './agent-plugin.js';
export type { AgentPluginOptions, WorkerLogger } from './agent-plugin.js';
export { createAgentWorker } from './create-worker.js';
export type { AgentWorkerOptions } from './create-worker.js';
export type { WorkerVersioning } from './versioning.js';
export type { WorkflowSource } from './workflow-source.js';
