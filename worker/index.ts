/** The Temporal runtime: the executor for API processes, activities and worker for workers. */
export { createActivities } from '../activities/index.js';
export type { ActivityDeps } from '../activities/index.js';
export { createAgentExecutor, registerSearchAttributes } from '../executor/index.js';
export type {
  AgentExecutor,
  AgentInput,
  AgentResult,
  AnswerReceipt,
  ExecuteOptions,
  ExecutorOptions,
  RunHandle,
  RunStream,
  StopReason,
  TemporalAgentExecutor,
  ToolAnswer,
} from '../executor/index.js';
export type { UserInputMessage } from '../protocol/agent-server.js';
export { createAgentPlugin } from './agent-plugin.js';
export type { AgentPluginOptions, WorkerLogger } from './agent-plugin.js';
export { createAgentWorker } from './create-worker.js';
export type { AgentWorkerOptions } from './create-worker.js';
export type { WorkerVersioning } from './versioning.js';
export type { WorkflowSource } from './workflow-source.js';
