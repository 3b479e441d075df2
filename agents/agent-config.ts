import type { LanguageModelMiddleware } from 'ai';
import { z } from 'zod';
import type { RunShape } from '../protocol/run.js';
import type { AgentTools } from './ai-sdk/agent-tools.js';
import type { AgentPage, LlmSettings, PrepareStep, SpendCap, ToolChoice } from './definitions.js';
import type { Instructions } from './instructions.js';
import {
  Callback,
  Flag,
  isCount,
  isFunction,
  isObject,
  isTexts,
  must,
  Name,
  PositiveAmount,
  Schema,
  SchemaForModel,
  settings,
  show,
  Text,
} from './fields.js';
import type { OnFinish, OnStepFinish, RepairToolCall, StopWhen } from './step-hooks.js';
import { Llm } from './llm-settings.js';
import { McpServers } from './mcp/mcp-servers.js';
import { isAgent, isWhole } from './tool-config.js';

/** An agent as its author writes it; the system prompt is typed from the state schema. */
export interface AgentConfig<
  State extends z.ZodType,
  Output extends z.ZodType,
  Tools extends AgentTools = AgentTools,
  Name extends string = string,
> {
  /** The name that sessions are bound to: `[A-Za-z0-9_-]{1,64}`, unique within a registry. */
  name: Name;
  description?: string;
  /**
   * Whether people may talk to it, or only agents that delegate to it. Default: true if the agent
   * itself is registered, false if it is known only as the sub-agent of another one.
   */
  public?: boolean;
  /** A text, or messages that can carry `providerOptions`, such as a cache point. */
  systemPrompt: Instructions | ((state: z.output<State>) => Instructions);
  /**
   * A list of what `defineTool` and its like returned, or an object of tools by name, in which tools
   * of the AI SDK can be as they are.
   */
  tools?: Tools;
  /**
   * Servers of the Model Context Protocol, by name, whose tools the agent has as well. They are listed
   * when a run begins, and stay the same until it ends. Needs the package `@modelcontextprotocol/sdk`.
   */
  mcpServers?: McpServers;
  /** State kept with the session; must accept `{}`, so give every field a default. */
  stateSchema?: State;
  /** The turn ends with a result of this shape, which the model submits as a tool call. */
  outputSchema?: Output;
  llmConfig: LlmSettings;
  /** Model calls a turn may take; `Infinity` for no limit. Default: 50. */
  maxSteps?: number;
  /** Calls of one step that are executed, 1 to 1,000; the others get an error. Default: 100. */
  maxCallsPerStep?: number;
  /** What one run may use. Default: no limit. */
  spendCap?: SpendCap;
  /**
   * `'leg'`: one activity carries a run up to its next rest, calls of tools included. Faster and
   * cheaper for Temporal, whose UI then shows a table of steps in place of a timeline. Default: one
   * activity for each step and call.
   */
  activities?: RunShape;
  /**
   * Changes what the model is asked in a step: messages, model, instructions, tools, sampling.
   * Default: the agent's own settings, and all messages.
   */
  prepareStep?: PrepareStep;
  /** Ends a run after a step; `maxSteps` counts beside it. Default: never. */
  stopWhen?: StopWhen;
  /** Default: `'auto'`. */
  toolChoice?: ToolChoice;
  /** Names of the tools that the model may call. Default: all. */
  activeTools?: readonly string[];
  /** Mends calls that name no tool, or whose input does not fit. Default: the model gets an error. */
  repairToolCall?: RepairToolCall;
  /** Middleware of the AI SDK around each of its models, such as a check of prompts and replies. Default: none. */
  middleware?: readonly LanguageModelMiddleware[];
  /** Called when a step is stored: at least once. */
  onStepFinish?: OnStepFinish;
  /** Called when a run has completed: at least once. */
  onFinish?: OnFinish;
  /** How pages present it; the runtime itself uses none of this. */
  page?: AgentPage;
}

/** Names of the field in the AI SDK and elsewhere. */
const INSTEAD_OF = {
  model: 'llmConfig: { model }',
  temperature: 'llmConfig: { temperature }',
  maxOutputTokens: 'llmConfig: { maxOutputTokens }',
  topP: 'llmConfig: { topP }',
  topK: 'llmConfig: { topK }',
  seed: 'llmConfig: { seed }',
  presencePenalty: 'llmConfig: { presencePenalty }',
  frequencyPenalty: 'llmConfig: { frequencyPenalty }',
  stopSequences: 'llmConfig: { stopSequences }',
  reasoning: 'llmConfig: { reasoning }',
  maxRetries: 'llmConfig: { maxTries }, which counts the first one, too',
  timeout: 'llmConfig: { stallTimeoutMs }, callMs of a model in a list, and timeoutMs of tools',
  toolApproval: 'requireApproval of the tools, or fromAgent({ …, toolApproval })',
  onError: 'the log of the worker, and the failed runs of /api/operator/runs',
  experimental_transform: 'middleware: [{ wrapStream }]',
  messages: 'messages of the page; prepareStep changes what the model gets',
  abortSignal: 'POST /api/chat/:sessionId/stop, or executor.stop',
  headers: 'llmConfig: { headers }',
  providerOptions: 'llmConfig: { providerOptions }',
  system: 'systemPrompt',
  instructions: 'systemPrompt',
  prompt: 'systemPrompt',
  state: 'stateSchema',
  output: 'outputSchema',
  onEnd: 'onFinish',
  onStepEnd: 'onStepFinish',
  experimental_repairToolCall: 'repairToolCall',
};
const DEFINE_TOOL = 'defineTool({ name, description, inputSchema, execute })';

/** Tools by name, or a list of them; each is checked against its own schema afterwards. */
const Tools = z
  .custom<readonly unknown[] | object>((value) => Array.isArray(value) || isObject(value), {
    error: ({ input }) =>
      `must be a list, not ${show(input)}; write tools: [defineTool({ name: 'weather', … })]`,
  })
  .superRefine((tools, context) => {
    for (const [index, tool] of Array.isArray(tools) ? tools.entries() : []) {
      const message = findForeignTool(tool);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [index], message });
    }
  });

const State = Schema.superRefine((schema, context) => {
  const message = findStateFault(schema);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** What `defineAgent` accepts. */
export const AgentConfig = settings(
  {
    name: Name,
    description: Text.optional(),
    public: Flag.optional(),
    systemPrompt: must(
      'a string, system messages, or a function of the state',
      (value) => isInstructions(value) || isFunction(value),
    ),
    tools: Tools.optional(),
    mcpServers: McpServers.optional(),
    stateSchema: State.optional(),
    outputSchema: SchemaForModel.optional(),
    llmConfig: Llm,
    maxSteps: must(
      'a whole number above 0, or Infinity',
      (value) => value === Infinity || isCount(value),
    ).optional(),
    maxCallsPerStep: must('a whole number from 1 to 1,000', (value) =>
      isWhole(value, 1, 1000),
    ).optional(),
    spendCap: settings({
      usd: PositiveAmount.optional(),
      tokens: PositiveAmount.optional(),
    }).optional(),
    activities: must(
      `'leg', or be left out for one activity for each step and call`,
      (value) => value === 'leg',
    ).optional(),
    prepareStep: Callback.optional(),
    stopWhen: must(
      'a function, or a list of functions: stepCountIs(20)',
      (value) => isFunction(value) || (Array.isArray(value) && value.every(isFunction)),
    ).optional(),
    toolChoice: must(
      `'auto', 'none', 'required' or { type: 'tool', toolName }`,
      isToolChoice,
    ).optional(),
    activeTools: must('a list of names of tools', isTexts).optional(),
    repairToolCall: Callback.optional(),
    middleware: must(
      'a list of middleware of the AI SDK',
      (value) => Array.isArray(value) && value.every(isObject),
    ).optional(),
    onStepFinish: Callback.optional(),
    onFinish: Callback.optional(),
    page: settings({
      title: Text.optional(),
      openers: z.array(z.union([Text, settings({ label: Text, text: Text })])).optional(),
      listed: Flag.optional(),
    }).optional(),
  },
  INSTEAD_OF,
)
  .refine(({ spendCap, llmConfig }) => !spendCap?.usd || llmConfig.pricing !== undefined, {
    path: ['spendCap', 'usd'],
    error: 'needs llmConfig.pricing',
  })
  .refine(({ llmConfig }) => !llmConfig.maxOutputUsd || llmConfig.pricing !== undefined, {
    path: ['llmConfig', 'maxOutputUsd'],
    error: 'needs llmConfig.pricing',
  });

/** Why an entry of `tools` cannot be a tool of ours, and what to write instead. */
function findForeignTool(tool: unknown): string | undefined {
  if (!isObject(tool)) return `must be what defineTool() returned, not ${show(tool)}`;
  if (isAgent(tool)) return 'is an agent; write createSubAgentTool({ agent, inputSchema })';
  if ('name' in tool) return undefined;
  return 'inputSchema' in tool || 'parameters' in tool
    ? 'is a tool() of the AI SDK, which has no name; write tools: { <name>: tool({ … }) }'
    : `has no name; write ${DEFINE_TOOL}`;
}

/** Why a schema cannot be used for a state, which is stored as JSON and read again and again. */
function findStateFault(schema: z.ZodType): string | undefined {
  try {
    const first = schema.safeParse({});
    if (!first.success) return 'must accept {}: give every field a default';
    if (!isObject(first.data)) return 'must return an object';
    const again = schema.safeParse(JSON.parse(JSON.stringify(first.data)));
    const isStable = again.success && JSON.stringify(again.data) === JSON.stringify(first.data);
    return isStable ? undefined : 'must accept what it returns, as JSON';
  } catch (error) {
    return `cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Also what `prepareStep` returns is checked with it. */
export function isInstructions(value: unknown): value is Instructions {
  if (Array.isArray(value)) return value.every((each) => isObject(each) && isInstructions(each));
  if (!isObject(value)) return typeof value === 'string';
  return 'role' in value && value.role === 'system' && 'content' in value;
}

export function isToolChoice(value: unknown): value is ToolChoice {
  if (isObject(value)) {
    return 'toolName' in value && typeof value.toolName === 'string' && value.toolName !== '';
  }
  return value === 'auto' || value === 'none' || value === 'required';
}
