/** The Temporal runtime: the executor for API processes, activities and worker for workers. */
export { createActivities } from '../activities/index.js';
export type { ActivityDeps } from '../activities/index.js';
// oxlint-disable-next-line oxc/no-barrel-file -- The file lists its names.
export * from '../runs/index.js';
export {
  DEFAULT_TASK_QUEUE,
  QUERIES,
  SEARCH_ATTRIBUTES,
  SIGNALS,
  UPDATES,
  WORKFLOW_TYPE,
} from '../protocol/temporal.js';
export type { OperatorAnswer } from '../protocol/temporal.js';
export type { AgentState, CallRef, RunInput, RunSummary, Spent } from '../protocol/run.js';
export { workflowIdOf } from '../protocol/ids.js';
export { createAgentPlugin } from './agent-plugin.js';
export type { AgentPluginOptions, WorkerLogger } from './agent-plugin.js';
export type { Liveness, LivenessDeps } from './liveness.js';
export type { TakeOver } from './take-over.js';
export { createAgentWorker } from './create-worker.js';
export type { AgentWorkerOptions } from './create-worker.js';
export type { WorkerVersioning } from './versioning.js';
export type { WorkflowSource } from './workflow-source.js';
