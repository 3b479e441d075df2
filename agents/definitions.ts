import type { Role } from '../protocol/actor.js';
import type { AgentShape } from './agent-config.js';
import type { LlmConfig } from './llm-settings.js';
import type { ApproverRule, ForeignShape, ToolShape } from './tool-config.js';

/** An agent as the runtime sees it: frozen, and free of the schemas' types. */
export interface AgentDefinition extends Readonly<Omit<AgentShape, 'tools' | 'llmConfig'>> {
  readonly tools: readonly ToolDefinition[];
  readonly llmConfig: LlmConfig;
}

/**
 * A tool as the runtime sees it. The schemas' types are gone: the runtime parses an input with
 * `inputSchema` and hands `execute` what came out of that.
 */
export interface ToolDefinition
  extends Readonly<Omit<ToolShape, 'execute' | 'approvers'>>, Readonly<ForeignShape> {
  /**
   * `'client'`: the browser executes the call; `'agent'`: the sub-agent in `subAgent` does;
   * `'provider'`: the provider of the model does, within its reply; `'webhook'`: a request to the address
   * that `send` has passed on answers it.
   */
  readonly execute: ToolShape['execute'] | 'agent' | 'provider';
  readonly subAgent?: SubAgent;
  readonly approvers?: readonly Role[] | ApproverRule;
}

/** The agent that executes the calls of a sub-agent tool. */
export interface SubAgent {
  readonly agent: AgentDefinition;
  /** The user message that the sub-agent's run begins with; the input as `inputSchema` gave it. */
  readonly toMessage: (input: unknown) => string;
}
