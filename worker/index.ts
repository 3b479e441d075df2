/** The Temporal runtime: the executor for API processes, activities and worker for workers. */
export { createActivities } from '../activities/index.js';
export type { ActivityDeps } from '../activities/index.js';
export { createAgentExecutor, registerSearchAttributes } from '../executor/index.js';
export type {
  AgentExecutor,
  AgentInput,
  AgentResult,
  AnswerReceipt,
  BranchInput,
  ExecuteOptions,
  ExecutorOptions,
  Resumability,
  ResumeOptions,
  RetryInput,
  RunExecutor,
  RunHandle,
  RunStream,
  StopReason,
  TemporalAgentExecutor,
  ToolAnswer,
} from '../executor/index.js';
export type { UserInputMessage } from '../protocol/agent-server.js';
export {
  DEFAULT_TASK_QUEUE,
  QUERIES,
  SEARCH_ATTRIBUTES,
  SIGNALS,
  UPDATES,
  WORKFLOW_TYPE,
} from '../protocol/temporal-names.js';
export type { OperatorAnswer } from '../protocol/activities.js';
export type { AgentState, CallRef, RunInput, RunSummary, Spent } from '../protocol/run.js';
export { workflowIdOf } from '../protocol/ids.js';
export { createAgentPlugin } from './agent-plugin.js';
export type { AgentPluginOptions, WorkerLogger } from './agent-plugin.js';
export { createAgentWorker } from './create-worker.js';
export type { AgentWorkerOptions } from './create-worker.js';
export type { WorkerVersioning } from './versioning.js';
export type { WorkflowSource } from './workflow-source.js';
