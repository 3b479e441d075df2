/** The client of the runs: what web servers and programs start, answer and stop them with. */
export { createAgentExecutor } from './create-agent-executor.js';
export type {
  ExecuteOptions,
  ExecutorOptions,
  TemporalAgentExecutor,
} from './create-agent-executor.js';
export { registerSearchAttributes } from './search-attributes.js';
export type {
  AgentExecutor,
  BranchInput,
  ExecuteInput,
  ResumeInput,
  ResumeResult,
  RetryInput,
} from './agent-executor.js';
export type { AgentInput } from './agent-input.js';
export type { AgentResult } from './agent-result.js';
export type { ExtendInput } from './answers.js';
export type { Resumability } from './can-resume.js';
export { toQuotas } from './quotas.js';
export type { Quotas } from './quotas.js';
export type { ResumeOptions } from './resume-options.js';
export type { RunStream } from './run-chunks.js';
export type { AnswerReceipt, RunHandle, StopReason, ToolAnswer } from './run-handle.js';
export type { RunExecutor } from './temporal-executor.js';
export type { UserInputMessage } from '../protocol/agent-server.js';
