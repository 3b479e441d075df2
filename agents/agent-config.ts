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
import type {
  Instructions,
  OnFinish,
  OnStepFinish,
  RepairToolCall,
  StopWhen,
} from './step-hooks.js';
import { Llm } from './llm-settings.js';
import { isInstructions, ToolChoice, ToolNames, type PrepareStep } from './prepared-step.js';
import { isAgent, isWhole } from './tool-config.js';
import type { ToolSource } from './tool-source.js';

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

const Spend = settings({
  /** US dollars, by `llmConfig.pricing`. */
  usd: PositiveAmount.optional(),
  /** Input and output together. */
  tokens: PositiveAmount.optional(),
});

/** What a run may use; it fails as `spend_cap_reached` before the next model call. */
export interface SpendCap extends Readonly<z.infer<typeof Spend>> {}

const Page = settings({
  /** Its name for people. Default: the agent's name. */
  title: Text.optional(),
  /** First messages to click; with a label where what is sent is not what people should read. */
  openers: z
    .array(z.union([Text, settings({ label: Text, text: Text })]))
    .readonly()
    .optional(),
  /** False: pages do not offer it, though people who know its name may talk to it. Default: true. */
  listed: Flag.optional(),
});

/** What a page shows of an agent. */
export interface AgentPage extends z.infer<typeof Page> {}

const fields = {
  name: Name,
  description: Text.optional(),
  /**
   * Whether people may talk to it, or only agents that delegate to it. Default: true if the agent
   * itself is registered, false if it is known only as the sub-agent of another one.
   */
  public: Flag.optional(),
  systemPrompt: must<Instructions | ((state: unknown) => Instructions)>(
    'a string, system messages, or a function of the state',
    (value) => isInstructions(value) || isFunction(value),
  ),
  tools: Tools.optional(),
  /** Where further tools come from: they are listed when a run begins, and the same until it ends. */
  toolSources: must<readonly ToolSource[]>(
    'a list of sources with different names, such as mcpServers({ … })',
    isToolSources,
  ).optional(),
  stateSchema: State.optional(),
  outputSchema: SchemaForModel.optional(),
  llmConfig: Llm,
  /** Model calls a turn may take; `Infinity` for no limit. Default: 50. */
  maxSteps: must<number>(
    'a whole number above 0, or Infinity',
    (value) => value === Infinity || isCount(value),
  ).optional(),
  /** Calls of one step that are executed, 1 to 1,000; the others get an error. Default: 100. */
  maxCallsPerStep: must<number>('a whole number from 1 to 1,000', (value) =>
    isWhole(value, 1, 1000),
  ).optional(),
  /** What one run may use. Default: no limit. */
  spendCap: Spend.optional(),
  /**
   * `'leg'`: one activity carries a run up to its next rest, calls of tools included. Faster and
   * cheaper for Temporal, whose UI then shows a table of steps in place of a timeline. Default: one
   * activity for each step and call.
   */
  activities: must<RunShape>(
    `'leg', or be left out for one activity for each step and call`,
    (value) => value === 'leg',
  ).optional(),
  /**
   * Changes what the model is asked in a step: messages, model, instructions, tools, sampling.
   * Default: the agent's own settings, and all messages.
   */
  prepareStep: callback<PrepareStep>().optional(),
  /** Ends a run after a step; `maxSteps` counts beside it. Default: never. */
  stopWhen: must<StopWhen>(
    'a function, or a list of functions: stepCountIs(20)',
    (value) => isFunction(value) || (Array.isArray(value) && value.every(isFunction)),
  ).optional(),
  /** Default: `'auto'`. */
  toolChoice: ToolChoice.optional(),
  /** Names of the tools that the model may call. Default: all. */
  activeTools: ToolNames.optional(),
  /** Mends calls that name no tool, or whose input does not fit. Default: the model gets an error. */
  repairToolCall: callback<RepairToolCall>().optional(),
  /** Middleware of the AI SDK around each of its models, such as a check of prompts and replies. Default: none. */
  middleware: must<readonly LanguageModelMiddleware[]>(
    'a list of middleware of the AI SDK',
    (value) => Array.isArray(value) && value.every(isObject),
  ).optional(),
  /** Called when a step is stored: at least once. */
  onStepFinish: callback<OnStepFinish>().optional(),
  /** Called when a run has completed: at least once. */
  onFinish: callback<OnFinish>().optional(),
  /** How pages present it; the runtime itself uses none of this. */
  page: Page.optional(),
};

/** What every agent has, as its author writes it; `AgentConfig` types it by its state, result and tools. */
export type AgentShape = z.infer<z.ZodObject<typeof fields>>;

/** What `defineAgent` accepts. */
export const AgentConfig = settings(fields, INSTEAD_OF)
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

function isToolSources(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  const names = value.map(
    (each: unknown) => isObject(each) && 'list' in each && 'name' in each && each.name,
  );
  return !names.includes(false) && new Set(names).size === names.length;
}
