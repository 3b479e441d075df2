import type { JSONObject } from '@ai-sdk/provider';
import type { LanguageModel } from 'ai';
import type { z } from 'zod';
import type { ToolCallIdentity, ToolContext } from './tool-context.js';

/** Which model an agent thinks with, and how it is called. */
export interface LlmConfig {
  /** A model of the AI SDK, the id of one, or a factory that is called when the model is needed. */
  readonly model: LanguageModel | (() => LanguageModel);
  readonly temperature?: number;
  /** Tokens one model call may produce. */
  readonly maxOutputTokens?: number;
  /** Passed on to the provider, keyed by provider name. */
  readonly providerOptions?: Readonly<Record<string, JSONObject>>;
}

/** An agent as the runtime sees it: frozen, and free of the schemas' types. */
export interface AgentDefinition {
  readonly name: string;
  readonly description?: string;
  readonly systemPrompt: string | ((state: unknown) => string);
  readonly tools: readonly ToolDefinition[];
  readonly stateSchema?: z.ZodType;
  readonly outputSchema?: z.ZodType;
  readonly llmConfig: LlmConfig;
  readonly maxSteps?: number;
}

/**
 * A tool as the runtime sees it. The schemas' types are gone: the runtime parses an input with
 * `inputSchema` and hands `execute` what came out of that.
 */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: z.ZodType;
  readonly outputSchema?: z.ZodType;
  /** `'client'`: the browser carries the call out; `'agent'`: the sub-agent in `subAgent` does. */
  readonly execute: 'client' | 'agent' | ((input: unknown, context: ToolContext) => unknown);
  readonly subAgent?: SubAgent;
  readonly requireApproval?:
    true | ((input: unknown, call: ToolCallIdentity) => boolean | Promise<boolean>);
  readonly idempotent?: boolean;
  readonly deadlineMs?: number;
  readonly timeoutMs?: number;
}

/** Who carries out the calls of a sub-agent tool. */
export interface SubAgent {
  readonly agent: AgentDefinition;
  /** The user message that the sub-agent's run begins with; the input as `inputSchema` gave it. */
  readonly toMessage: (input: unknown) => string;
}
