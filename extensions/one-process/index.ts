/** Agents in one process, without Temporal. */
export {
  createInProcessExecutor,
  JSAgentExecutor,
  type InProcessExecutor,
  type InProcessOptions,
} from './create-executor.js';
export type { Clock } from './clock.js';
export { ToolLoopAgent, type ToolLoopAgentMore } from './ai-sdk/tool-loop-agent.js';
export { AgentRunError, type Generated, type GeneratedStream } from './ai-sdk/generated.js';
export type { AgentCall } from './ai-sdk/read-call.js';
export type { CallCallbacks } from './ai-sdk/call-hooks.js';
export type { AgentExecutor, ExecuteOptions } from '../../runs/executor.js';
export type { AgentInput } from '../../runs/agent-input.js';
export type { AgentResult } from '../../runs/run-result.js';
export type { RunHandle } from '../../runs/run-handle.js';
