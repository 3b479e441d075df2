/** The client of the runs, with which web servers and programs start, answer and stop them. */
export { createAgentExecutor } from './temporal-executor.js';
export type { ExecutorOptions, TemporalAgentExecutor } from './temporal-executor.js';
export type { AgentExecutor, ExecuteOptions } from './executor.js';
export type { AgentInput } from './agent-input.js';
export type { ExtendInput } from './record/answers.js';
export type { ResumeOptions } from './reruns.js';
export type {
  AnswerReceipt,
  Approval,
  ClientToolOutcome,
  RunHandle,
  RunStream,
  StopReason,
  ToolAnswer,
} from './run-handle.js';
export type { AgentResult } from './run-result.js';
export type {
  BranchInput,
  ExecuteInput,
  Resumability,
  ResumeInput,
  ResumeResult,
  RetryInput,
  Runs,
} from './runs.js';
export { registerSearchAttributes } from './search-attributes.js';
export type { RunEvent, RunMeter } from '../protocol/telemetry.js';
export type { UserInputMessage } from '../protocol/agent-server.js';
