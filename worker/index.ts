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
export { createAgentWorker } from './create-worker.js';
export type { AgentWorkerConfig } from './create-worker.js';
export { startSweeper } from './sweeper.js';
