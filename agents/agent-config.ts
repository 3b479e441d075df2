import type { LanguageModelMiddleware } from 'ai';
import { z } from 'zod';
import type { RunShape } from '../protocol/run.js';
import {
  callback,
  Flag,
  isCount,
  isFunction,
  isObject,
  must,
  Name,
  PositiveAmount,
  Schema,
  SchemaForModel,
  settings,
  show,
  Text,
} from './fields.js';
import {
  type Instructions,
  type OnFinish,
  type OnStepFinish,
  type RepairToolCall,
  type StopWhen,
  isInstructions,
  ToolChoice,
  ToolNames,
  type PrepareStep,
} from './step-hooks.js';
import { Llm } from './llm-settings.js';
import { isAgent, isWhole } from './tool-config.js';
import type { ToolSource } from './tool-source.js';

/** Replacements for field names of the AI SDK and other libraries. */
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

/** Tools by name, or a list of them; each is checked against its own schema later. */
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

const Spend = settings({
  /** US dollars, by `llmConfig.pricing`. */
  usd: PositiveAmount.optional(),
  /** Sum of input and output. */
  tokens: PositiveAmount.optional(),
});

/** Limits of a run, which otherwise fails as `spend_cap_reached` before the next model call. */
export interface SpendCap extends Readonly<z.infer<typeof Spend>> {}

const Page = settings({
  /** Name shown to people. Default: the agent's name. */
  title: Text.optional(),
  /** First messages to click, with a label if people should not read the sent text. */
  openers: z
    .array(z.union([Text, settings({ label: Text, text: Text })]))
    .readonly()
    .optional(),
  /** False hides the agent from lists; people who know its name may talk to it. Default: true. */
  listed: Flag.optional(),
});

/** An agent's presentation on a page. */
export interface AgentPage extends z.infer<typeof Page> {}

const fields = {
  name: Name,
  description: Text.optional(),
  /**
   * True if people may talk to the agent, false if only delegating agents may. Default: true if the
   * agent itself is registered, false if it is known only as a sub-agent.
   */
  public: Flag.optional(),
  systemPrompt: must<Instructions | ((state: unknown) => Instructions)>(
    'a string, system messages, or a function of the state',
    (value) => isInstructions(value) || isFunction(value),
  ),
  tools: Tools.optional(),
  /** Sources of further tools, listed when a run begins and unchanged until it ends. */
  toolSources: must<readonly ToolSource[]>(
    'a list of sources with different names, such as mcpServers({ … })',
    isToolSources,
  ).optional(),
  stateSchema: State.optional(),
  outputSchema: SchemaForModel.optional(),
  llmConfig: Llm,
  /** Limit of model calls per turn; `Infinity` for none. Default: 50. */
  maxSteps: must<number>(
    'a whole number above 0, or Infinity',
    (value) => value === Infinity || isCount(value),
  ).optional(),
  /** Limit of calls per step, 1 to 1,000; further calls get an error. Default: 100. */
  maxCallsPerStep: must<number>('a whole number from 1 to 1,000', (value) =>
    isWhole(value, 1, 1000),
  ).optional(),
  /** Spending limit of one run. Default: no limit. */
  spendCap: Spend.optional(),
  /**
   * `'leg'`: one activity carries a run to its next rest, tool calls included. This is faster and
   * puts less load on Temporal, whose UI then shows a table of steps instead of a timeline.
   * Default: one activity per step and call.
   */
  activities: must<RunShape>(
    `'leg', or be left out for one activity for each step and call`,
    (value) => value === 'leg',
  ).optional(),
  /**
   * Changes the model's input for a step: messages, model, instructions, tools, sampling. Default:
   * the agent's own settings, and all messages.
   */
  prepareStep: callback<PrepareStep>().optional(),
  /** Ends a run after a step; `maxSteps` applies too. Default: never. */
  stopWhen: must<StopWhen>(
    'a function, or a list of functions: stepCountIs(20)',
    (value) => isFunction(value) || (Array.isArray(value) && value.every(isFunction)),
  ).optional(),
  /** Default: `'auto'`. */
  toolChoice: ToolChoice.optional(),
  /** Names of the tools that the model may call. Default: all. */
  activeTools: ToolNames.optional(),
  /** Repairs calls without a known tool or a fitting input. Default: the model gets an error. */
  repairToolCall: callback<RepairToolCall>().optional(),
  /** AI SDK middleware around each model, such as a check of prompts and replies. Default: none. */
  middleware: must<readonly LanguageModelMiddleware[]>(
    'a list of middleware of the AI SDK',
    (value) => Array.isArray(value) && value.every(isObject),
  ).optional(),
  /** Called at least once when a step is stored. */
  onStepFinish: callback<OnStepFinish>().optional(),
  /** Called at least once when a run has completed. */
  onFinish: callback<OnFinish>().optional(),
  /** Presentation on pages; the runtime itself ignores it. */
  page: Page.optional(),
};

/** Fields of every agent; `AgentConfig` types them by its state, result, and tools. */
export type AgentShape = z.infer<z.ZodObject<typeof fields>>;

/** Schema of the input of `defineAgent`. */
export const AgentConfig = settings(fields, INSTEAD_OF)
  .refine(({ spendCap, llmConfig }) => !spendCap?.usd || llmConfig.pricing !== undefined, {
    path: ['spendCap', 'usd'],
    error: 'needs llmConfig.pricing',
  })
  .refine(({ llmConfig }) => !llmConfig.maxOutputUsd || llmConfig.pricing !== undefined, {
    path: ['llmConfig', 'maxOutputUsd'],
    error: 'needs llmConfig.pricing',
  });

/** Returns the reason that an entry of `tools` is no tool of ours, and its replacement. */
function findForeignTool(tool: unknown): string | undefined {
  if (!isObject(tool)) return `must be what defineTool() returned, not ${show(tool)}`;
  if (isAgent(tool)) return 'is an agent; write createSubAgentTool({ agent, inputSchema })';
  if ('name' in tool) return undefined;
  return 'inputSchema' in tool || 'parameters' in tool
    ? 'is a tool() of the AI SDK, which has no name; write tools: { <name>: tool({ … }) }'
    : `has no name; write ${DEFINE_TOOL}`;
}

/** Returns the reason that a schema cannot describe a state, which is stored as JSON. */
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

function isToolSources(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const names = value.map(
    (each: unknown) => isObject(each) && 'list' in each && 'name' in each && each.name,
  );
  return !names.includes(false) && new Set(names).size === names.length;
}
