/** Agents in one process, without Temporal. */
export { createInProcessExecutor } from './create-executor.js';
export type { InProcessExecutor, InProcessOptions } from './create-executor.js';
export type { Clock } from './clock.js';
export { JSAgentExecutor } from './js-agent-executor.js';
export { ToolLoopAgent } from './ai-sdk/tool-loop-agent.js';
export type { ToolLoopAgentMore } from './ai-sdk/tool-loop-agent.js';
export type { Generated } from './ai-sdk/generated.js';
export type { GeneratedStream } from './ai-sdk/generated-stream.js';
export type { AgentCall } from './ai-sdk/read-call.js';
export type { CallCallbacks } from './ai-sdk/call-hooks.js';
export { AgentRunError } from './ai-sdk/agent-run-error.js';
export type { AgentExecutor, ExecuteOptions } from '../../runs/executor-of.js';
export type { AgentInput } from '../../runs/agent-input.js';
export type { AgentResult } from '../../runs/run-result.js';
export type { RunHandle } from '../../runs/run-handle.js';
