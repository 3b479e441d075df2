/** Agents in one process, without Temporal. */
export { createInProcessExecutor } from './create-executor.js';
export type { InProcessExecutor, InProcessOptions } from './create-executor.js';
export type { Clock } from './clock.js';
export { JSAgentExecutor } from './js-agent-executor.js';
export type { AgentExecutor, ExecuteOptions } from '../executor/executor-of.js';
export type { AgentInput } from '../executor/agent-input.js';
export type { AgentResult } from '../executor/run-result.js';
export type { RunHandle } from '../executor/run-handle.js';
