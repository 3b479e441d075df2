export type {
  AgentExecutor,
  BranchInput,
  ExecuteInput,
  ResumeInput,
  ResumeResult,
  RetryInput,
} from './agent-executor.js';
export type { Answers, ExtendInput } from './answers.js';
export type { Resumability } from './can-resume.js';
export { createRunWorkflows } from './run-workflows.js';
export type { RunWorkflows, WorkflowState } from './run-workflows.js';
export { registerSearchAttributes } from './search-attributes.js';
export { createFindClosed } from './find-closed.js';
export { toQuotas } from './quotas.js';
export type { Quotas } from './quotas.js';
export { createSweep } from './sweep.js';
export { createTemporalExecutor } from './temporal-executor.js';
export type { ExecutorDeps, RunExecutor } from './temporal-executor.js';
export { createAgentExecutor, createExecutorOf, findRunOf } from './create-agent-executor.js';
export type {
  ExecuteOptions,
  ExecutorOptions,
  TemporalAgentExecutor,
} from './create-agent-executor.js';
export type { AgentInput } from './agent-input.js';
export type { ResumeOptions } from './resume-options.js';
export { readState } from './agent-input.js';
export type { AgentResult } from './agent-result.js';
export { toBeginRefusal } from './begin-refusal.js';
export type { AnswerReceipt, RunHandle, StopReason, ToolAnswer } from './run-handle.js';
export type { RunStream } from './run-chunks.js';
