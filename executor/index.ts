export type { AgentExecutor, ExecuteInput } from './agent-executor.js';
export type { Answers, ExtendInput } from './answers.js';
export { createRunWorkflows } from './run-workflows.js';
export type { RunWorkflows, WorkflowState } from './run-workflows.js';
export { registerSearchAttributes } from './search-attributes.js';
export { createSweep } from './sweep.js';
export { createTemporalExecutor } from './temporal-executor.js';
export type { ExecutorDeps, TemporalAgentExecutor } from './temporal-executor.js';
