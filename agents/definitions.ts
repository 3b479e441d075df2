import type {
  JSONObject,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
} from '@ai-sdk/provider';
import type {
  FlexibleSchema,
  LanguageModel,
  LanguageModelMiddleware,
  ModelMessage,
  ToolResultPart,
} from 'ai';
import type { z } from 'zod';
import type { CallActivity, OnExpiry, RunShape } from '../protocol/run.js';
import type { Role } from '../protocol/actor.js';
import type { ApproverRule } from './approver-rule.js';
import type { CompactionRecord } from './compaction/compaction-record.js';
import type { InputHooks } from './input-hooks.js';
import type { Instructions } from './instructions.js';
import type { McpServers } from './mcp/mcp-servers.js';
import type { Pricing } from './pricing.js';
import type { OnFinish, OnStepFinish, RepairToolCall, StepRecord, StopWhen } from './step-hooks.js';
import type { LostCall, ToolCallIdentity, ToolContext, Verification } from './tool-context.js';

export type { Pricing };
export type ToolResultOutput = ToolResultPart['output'];

/** How a model samples, as the AI SDK has it; providers ignore what they do not know. */
export interface SamplingSettings {
  readonly temperature?: number;
  /** Most tokens that one model call may produce. */
  readonly maxOutputTokens?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly stopSequences?: readonly string[];
  readonly seed?: number;
  /** How hard a model thinks. */
  readonly reasoning?: ReasoningEffort;
}

type ReasoningEffort = NonNullable<LanguageModelV4CallOptions['reasoning']>;

/** Which tool the model must or may call. */
export type ToolChoice =
  'auto' | 'none' | 'required' | { readonly type: 'tool'; readonly toolName: string };

/** A model of the AI SDK, its id, or a function that returns it and is called when it is needed. */
export type AgentModel = LanguageModel | (() => LanguageModel);

/** One of an agent's models, with what it may take before the next one is asked. */
export interface ModelChoice {
  readonly model: AgentModel;
  /** Until the first piece of its reply, ms. Default: `stallTimeoutMs`. */
  readonly firstPartMs?: number;
  /** For one whole reply, ms. Default: no limit. */
  readonly callMs?: number;
  /** Requests of one step to it. Default: 2; of the last model, as many as fit into `retryForMs`. */
  readonly maxTries?: number;
  /** Default: that of the agent. */
  readonly pricing?: Pricing;
}

/** The settings of model calls as an author writes them. */
export type LlmSettings = Omit<LlmConfig, 'model' | 'models'> & {
  /**
   * The agent's model. In a list each stands in for those before it when they fail: a step that fails
   * is withdrawn, and the next model is asked at once.
   */
  readonly model: AgentModel | readonly (AgentModel | ModelChoice)[];
};

/** The model of an agent, and the settings of its calls. */
export interface LlmConfig extends SamplingSettings {
  /** The first one, if there are several. */
  readonly model: AgentModel;
  /** All of them, if they were given as a list. */
  readonly models?: readonly ModelChoice[];
  /** Sent with each request to the provider. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Passed on to the provider, keyed by provider name. */
  readonly providerOptions?: Readonly<Record<string, JSONObject>>;
  /** Asks the provider to hold the result of an `outputSchema` to its schema. Default: false. */
  readonly strictOutput?: boolean;
  /** Prices of tokens; without them a run's usage has no cost. */
  readonly pricing?: Pricing;
  /** US dollars that the output of one model call may cost, by the prices: it bounds `maxOutputTokens`. */
  readonly maxOutputUsd?: number;
  /** A model that sends nothing for this long, in ms, has failed. Default: 2 minutes. */
  readonly stallTimeoutMs?: number;
  /** How long one step retries a failing provider, in ms. Default: 10 minutes. */
  readonly retryForMs?: number;
  /** Most requests of one step to the provider. Default: as many as fit into `retryForMs`. */
  readonly maxTries?: number;
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
  readonly systemPrompt: Instructions | ((state: unknown) => Instructions);
  readonly tools: readonly ToolDefinition[];
  readonly mcpServers?: McpServers;
  readonly stateSchema?: z.ZodType;
  readonly outputSchema?: z.ZodType;
  readonly llmConfig: LlmConfig;
  readonly maxSteps?: number;
  readonly maxCallsPerStep?: number;
  readonly spendCap?: SpendCap;
  readonly activities?: RunShape;
  readonly prepareStep?: PrepareStep;
  readonly stopWhen?: StopWhen;
  readonly toolChoice?: ToolChoice;
  readonly activeTools?: readonly string[];
  readonly repairToolCall?: RepairToolCall;
  readonly middleware?: readonly LanguageModelMiddleware[];
  readonly onStepFinish?: OnStepFinish;
  readonly onFinish?: OnFinish;
  readonly page?: AgentPage;
}

/** What a page shows of an agent. */
export interface AgentPage {
  /** Its name for people. Default: the agent's name. */
  title?: string;
  /** First messages to click; with a label where what is sent is not what people should read. */
  openers?: readonly (string | { label: string; text: string })[];
  /** False: pages do not offer it, though people who know its name may talk to it. Default: true. */
  listed?: boolean;
}

/**
 * A tool as the runtime sees it. The schemas' types are gone: the runtime parses an input with
 * `inputSchema` and hands `execute` what came out of that.
 */
export interface ToolDefinition {
  readonly name: string;
  /** Its name for people. */
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: z.ZodType;
  readonly outputSchema?: z.ZodType;
  /**
   * `'client'`: the browser executes the call; `'agent'`: the sub-agent in `subAgent` does;
   * `'provider'`: the provider of the model does, within its reply.
   */
  readonly execute:
    'client' | 'agent' | 'provider' | ((input: unknown, context: ToolContext) => unknown);
  readonly subAgent?: SubAgent;
  readonly requireApproval?: true | ApprovalRule<unknown>;
  readonly approvers?: readonly Role[] | ApproverRule;
  readonly separateApprover?: boolean;
  readonly idempotent?: boolean;
  readonly verify?: (input: unknown, call: LostCall) => Verification | Promise<Verification>;
  readonly retry?: RetryPolicy;
  readonly finishWith?: true | ((output: unknown) => unknown);
  readonly deadlineMs?: number;
  readonly onExpiry?: OnExpiry;
  readonly timeoutMs?: number;
  readonly activity?: CallActivity;
  /** Of a tool that its provider defines: what the provider is given in place of a schema. */
  readonly provider?: ProviderTool;
  /** Of a tool of the AI SDK: what the model is given about it beside name and description. */
  readonly forModel?: { readonly inputSchema: FlexibleSchema } & Pick<
    LanguageModelV4FunctionTool,
    'providerOptions' | 'strict' | 'inputExamples'
  >;
  /** Of a tool of the AI SDK: hooks that are called while a model writes the input of a call. */
  readonly onInput?: InputHooks;
  /** The tool's name in the list of an MCP server or another origin, if models know it by another one. */
  readonly listedAs?: string;
  /** Of a `dynamicTool()` of the AI SDK: steps list its calls apart. */
  readonly isDynamic?: boolean;
  /** Of a tool of the AI SDK: what the model gets in place of the result as JSON. */
  readonly toModelOutput?: ToModelOutput;
}

export interface ProviderTool {
  /** `<provider>.<tool>` */
  readonly id: `${string}.${string}`;
  readonly args: Readonly<Record<string, unknown>>;
  /** The result of a call may come in a later reply. */
  readonly defers?: boolean;
}

/** The result of a call as the model gets it; name and shape are those of the AI SDK. */
export type ToModelOutput = (result: {
  toolCallId: string;
  input: unknown;
  output: unknown;
}) => ToolResultOutput | PromiseLike<ToolResultOutput>;

/**
 * Decides call by call: `true` asks a person, `false` does not; a verdict is an immediate decision,
 * recorded as automatic. A rule that throws asks a person.
 */
export type ApprovalRule<Input> = (
  input: Input,
  call: ApprovalCall,
) => ApprovalVerdict | Promise<ApprovalVerdict>;

/** The call that a rule decides about. */
export interface ApprovalCall extends ToolCallIdentity {
  /** What the model was given in the step that made the call, without the system prompt. */
  readonly messages: readonly ModelMessage[];
}

export type ApprovalVerdict = boolean | { readonly approve: boolean; readonly reason?: string };

/** How often, and after which delays, a tool that throws is executed again. */
export interface RetryPolicy {
  /** Executions of one call, the first included; 2 to 100. Executions on a lost worker count. */
  readonly attempts: number;
  /** Delay before the second execution, in ms. Default: 1,000. */
  readonly initialIntervalMs?: number;
  /** Longest delay, in ms. Default: 60,000. */
  readonly maximumIntervalMs?: number;
  /** Factor from each delay to the next. Default: 2. */
  readonly coefficient?: number;
}

/** The agent that executes the calls of a sub-agent tool. */
export interface SubAgent {
  readonly agent: AgentDefinition;
  /** The user message that the sub-agent's run begins with; the input as `inputSchema` gave it. */
  readonly toMessage: (input: unknown) => string;
}

/** The input of `prepareStep`. */
export interface PrepareStepOptions {
  /** The messages that the model would get, without the system prompt; not to be changed in place. */
  readonly messages: ModelMessage[];
  /** Step of the turn, from 1. */
  readonly step: number;
  /** The same from 0, as the AI SDK counts. */
  readonly stepNumber: number;
  /** The turn's steps so far, with the results of their calls. */
  readonly steps: StepRecord[];
  /** The agent's model. */
  readonly model: LanguageModel;
  /** The agent's system prompt. */
  readonly instructions: Instructions;
  readonly initialInstructions: Instructions;
  /** Those of the messages that precede the turn's reply, and those of the reply. */
  readonly initialMessages: ModelMessage[];
  readonly responseMessages: ModelMessage[];
  readonly sessionId: string;
  readonly runId: string;
  /** The agent's own state. */
  readonly state: unknown;
  /** Metadata of the message that the turn answers, as its sender set them: not to be trusted. */
  readonly messageMetadata: unknown;
  /** Fires when the result is no longer waited for. */
  readonly signal: AbortSignal;
  /** A summary that stands for the oldest messages, as `compaction` uses it. */
  readonly compaction: CompactionRecord;
}

/** The changes of `prepareStep`; fields that it leaves out stay as they are. */
export interface PreparedStep extends SamplingSettings {
  /** The messages that the model gets instead. Nothing that is stored changes. */
  readonly messages?: ModelMessage[];
  /** The model of this step. */
  readonly model?: LanguageModel;
  /** The system prompt of this step; `system` is its older name. */
  readonly instructions?: Instructions;
  readonly system?: Instructions;
  readonly toolChoice?: ToolChoice;
  /** Names of the tools that the model may call in this step. */
  readonly activeTools?: readonly string[];
  /** Added to those of the agent. */
  readonly providerOptions?: Readonly<Record<string, JSONObject>>;
}

/**
 * Called before each model call; name and shape are those of the AI SDK. It may return the result
 * of the AI SDK's `pruneMessages`. Calls without a result and results without a call are removed
 * afterwards, since providers refuse them. An error of this function ends the run as
 * `context_hook_failed`.
 */
export type PrepareStep = (
  options: PrepareStepOptions,
) => PreparedStep | undefined | Promise<PreparedStep | undefined>;
