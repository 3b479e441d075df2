import type { Role } from '../protocol/actor.js';
import type { AgentShape } from './agent-config.js';
import type { LlmConfig } from './llm-settings.js';
import type { ApproverRule, ForeignShape, ToolShape } from './tool-config.js';

/** The runtime's form of an agent: frozen, and without the schemas' types. */
export interface AgentDefinition extends Readonly<Omit<AgentShape, 'tools' | 'llmConfig'>> {
  readonly tools: readonly ToolDefinition[];
  readonly llmConfig: LlmConfig;
}

/**
 * The runtime's form of a tool, without the schemas' types: the runtime parses an input with
 * `inputSchema` and passes the result to `execute`.
 */
export interface ToolDefinition
  extends Readonly<Omit<ToolShape, 'execute' | 'approvers'>>, Readonly<ForeignShape> {
  /**
   * Executor of the calls. `'client'`: the browser; `'agent'`: the agent in `subAgent`;
   * `'provider'`: the model's provider, within its reply; `'webhook'`: a request to the address
   * that `send` has passed on.
   */
  readonly execute: ToolShape['execute'] | 'agent' | 'provider';
  readonly subAgent?: SubAgent;
  readonly approvers?: readonly Role[] | ApproverRule;
}

/** The agent that executes the calls of a sub-agent tool. */
export interface SubAgent {
  readonly agent: AgentDefinition;
  /** Creates the sub-agent's first user message from the parsed input. */
  readonly toMessage: (input: unknown) => string;
}
