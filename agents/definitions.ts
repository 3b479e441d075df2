import type { JSONObject } from '@ai-sdk/provider';
import type { LanguageModel, ModelMessage } from 'ai';
import type { z } from 'zod';
import type { OnExpiry } from '../protocol/run.js';
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
  /** Asks the provider to hold the result of an `outputSchema` to its schema. Default: false. */
  readonly strictOutput?: boolean;
  /** What tokens cost; without it a run's usage has no cost. */
  readonly pricing?: Pricing;
  /** A model that says nothing for this long, in ms, has failed. Default: 2 minutes. */
  readonly stallTimeoutMs?: number;
  /** How long a provider that fails is asked again for one step, in ms. Default: 10 minutes. */
  readonly retryForMs?: number;
  /** How often it is asked for one step at most. Default: as often as there is time. */
  readonly maxTries?: number;
}

/** US dollars for a million tokens. */
export interface Pricing {
  readonly inputPerMTok: number;
  readonly outputPerMTok: number;
  /** Input read from the provider's cache. Default: as other input. */
  readonly cachedPerMTok?: number;
  /** Input written to the provider's cache. Default: as other input. */
  readonly cacheWritePerMTok?: number;
}

/** What a run may use; it fails as `spend_cap_reached` before the next model call. */
export interface SpendCap {
  /** US dollars, by `llmConfig.pricing`. */
  readonly usd?: number;
  /** Input and output together. */
  readonly tokens?: number;
}

/** An agent as the runtime sees it: frozen, and free of the schemas' types. */
export interface AgentDefinition {
  readonly name: string;
  readonly description?: string;
  readonly public?: boolean;
  readonly systemPrompt: string | ((state: unknown) => string);
  readonly tools: readonly ToolDefinition[];
  readonly stateSchema?: z.ZodType;
  readonly outputSchema?: z.ZodType;
  readonly llmConfig: LlmConfig;
  readonly maxSteps?: number;
  readonly maxCallsPerStep?: number;
  readonly spendCap?: SpendCap;
  readonly prepareStep?: PrepareStep;
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
  readonly requireApproval?: true | ApprovalRule<unknown>;
  readonly idempotent?: boolean;
  readonly retry?: RetryPolicy;
  readonly finishWith?: true | ((output: unknown) => unknown);
  readonly deadlineMs?: number;
  readonly onExpiry?: OnExpiry;
  readonly timeoutMs?: number;
}

/**
 * Decides call by call: `true` asks a person, `false` does not; a verdict is a decision that is made
 * here and now, recorded as automatic. A rule that throws asks a person.
 */
export type ApprovalRule<Input> = (
  input: Input,
  call: ToolCallIdentity,
) => ApprovalVerdict | Promise<ApprovalVerdict>;

export type ApprovalVerdict = boolean | { readonly approve: boolean; readonly reason?: string };

/** How often, and after which waits, a tool that throws is executed again. */
export interface RetryPolicy {
  /** Executions of one call, the first included; 2 to 100. Those that a lost worker began count. */
  readonly attempts: number;
  /** Before the second execution, in ms. Default: 1,000. */
  readonly initialIntervalMs?: number;
  /** No wait is longer, in ms. Default: 60,000. */
  readonly maximumIntervalMs?: number;
  /** Each wait is this many times the one before. Default: 2. */
  readonly coefficient?: number;
}

/** Who carries out the calls of a sub-agent tool. */
export interface SubAgent {
  readonly agent: AgentDefinition;
  /** The user message that the sub-agent's run begins with; the input as `inputSchema` gave it. */
  readonly toMessage: (input: unknown) => string;
}

/** What `prepareStep` decides by. */
export interface PrepareStepOptions {
  /** The messages that the model would get, without the system prompt; not to be changed in place. */
  readonly messages: ModelMessage[];
  /** Step of the turn, from 1. */
  readonly step: number;
  readonly sessionId: string;
  readonly runId: string;
  /** The agent's own state. */
  readonly state: unknown;
}

/** What `prepareStep` changes; what it leaves out stays as it is. */
export interface PreparedStep {
  /** The messages that the model gets instead. Nothing that is stored changes. */
  readonly messages?: ModelMessage[];
}

/**
 * Called before each model call, under the name and in the shape of the AI SDK's. The AI SDK's
 * `pruneMessages` gives messages that it may return. Calls without a result and results without a
 * call are left out afterwards, since providers refuse them. What it throws ends the run as
 * `context_hook_failed`.
 */
export type PrepareStep = (
  options: PrepareStepOptions,
) => PreparedStep | undefined | Promise<PreparedStep | undefined>;
