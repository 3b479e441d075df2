import type { FlexibleSchema, ToolExecutionOptions, ModelMessage } from 'ai';
import { DefinitionError } from '../definition-error.js';
import type { ApprovalCall, InputHooks, ProviderTool } from '../tool-config.js';
import type { ToolDefinition } from '../definitions.js';
import type { ToolContext } from '../tool-context.js';
import { ToolError } from '../tool-error.js';
import {
  OWN_CONTEXT,
  toContextFields,
  type AgentContexts,
  type ContextFields,
} from './contexts.js';
import { findInputFault, isToolSchema, toToolSchema } from './tool-schema.js';

/**
 * A result of `tool()` or `dynamicTool()`, from any version of the AI SDK, without the types of
 * input and output.
 */
export interface AiSdkTool {
  readonly type?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | ((options: never) => string) | undefined;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly execute?: ((input: never, options: never) => unknown) | undefined;
  readonly needsApproval?:
    boolean | ((input: never, options: never) => boolean | PromiseLike<boolean>) | undefined;
  readonly toModelOutput?: ((options: never) => unknown) | undefined;
  readonly providerOptions?: object | undefined;
  readonly strict?: boolean | undefined;
  readonly contextSchema?: unknown;
  readonly onInputStart?: ((options: never) => unknown) | undefined;
  readonly onInputDelta?: ((options: never) => unknown) | undefined;
  readonly onInputAvailable?: ((options: never) => unknown) | undefined;
  readonly inputExamples?: readonly object[] | undefined;
  /** Set for tools that a provider defines. */
  readonly id?: string | undefined;
  readonly args?: object | undefined;
  readonly isProviderExecuted?: boolean | undefined;
  readonly supportsDeferredResults?: boolean | undefined;
}

/** Settings of this runtime that AI SDK tools lack. */
export type DurableSettings = Pick<
  ToolDefinition,
  | ('idempotent' | 'verify' | 'retry' | 'deadlineMs' | 'onExpiry' | 'timeoutMs' | 'activity')
  | ('requireApproval' | 'approvers' | 'separateApprover')
>;

/**
 * Converts a tool of the AI SDK. `defineAgent({ tools: { … } })` does so for each of its tools;
 * call this for tools that need settings which the AI SDK does not have.
 *
 * Without `execute` the browser executes the calls. `needsApproval` asks a person. A tool that
 * yields several results shows each to viewers, and the last one becomes its result. `execute` gets
 * this runtime's `ToolContext`, see `toolContextOf`. Reading `messages` there throws, since a
 * process without the conversation may execute the call long after the model made it;
 * `needsApproval` has them.
 *
 * Tools that a provider defines are passed to it unchanged: it executes them, for example a web
 * search, unless they have an `execute`.
 *
 * @throws DefinitionError for wrong settings
 * @example
 * import { tool } from 'ai';
 * import { defineAgent, fromAiSdkTool } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * const weather = tool({
 *   description: 'The weather in a city.',
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }) => ({ city, celsius: 21 }),
 * });
 *
 * export const guide = defineAgent({
 *   name: 'guide',
 *   systemPrompt: 'You plan day trips.',
 *   tools: [fromAiSdkTool('weather', weather, { idempotent: true, timeoutMs: 5_000 })],
 *   llmConfig: { model: 'openai/gpt-5' },
 * });
 */
export function fromAiSdkTool(
  name: string,
  tool: AiSdkTool,
  settings: DurableSettings = {},
): ToolDefinition {
  return toDefinition(name, tool, settings);
}

/**
 * Converts a tool of an agent that passes contexts to its code.
 *
 * @throws DefinitionError for wrong settings
 */
export function toDefinition(
  name: string,
  tool: AiSdkTool,
  settings: DurableSettings = {},
  contexts?: AgentContexts,
): ToolDefinition {
  checkToolFields(name, tool);
  const provider = toProviderTool(name, tool);
  const fields = toContextFields(name, tool.contextSchema, contexts);
  const { title, description, inputSchema, outputSchema, execute, toModelOutput } = tool;
  const { providerOptions, strict, inputExamples } = tool;
  const executor = toExecutor(tool, fields);
  for (const [field, schema] of Object.entries({ inputSchema, outputSchema })) {
    if (isToolSchema(schema) || (schema === undefined && field === 'outputSchema')) continue;
    const fault = `${field} must be a zod schema, jsonSchema({ … }) or a Standard Schema`;
    throw new DefinitionError(fault, { tool: name });
  }
  const fault = executor === 'provider' ? undefined : findInputFault(inputSchema as FlexibleSchema);
  if (fault !== undefined) throw new DefinitionError(`inputSchema ${fault}`, { tool: name });
  return Object.freeze({
    ...settings,
    name,
    ...(typeof title === 'string' && title.trim() !== '' && { title: title.slice(0, 200) }),
    description: toDescription(description) ?? name,
    inputSchema: toToolSchema(inputSchema as FlexibleSchema),
    // Results of `execute` are not checked, as in the AI SDK; results of a browser are.
    outputSchema:
      execute === undefined && outputSchema !== undefined
        ? toToolSchema(outputSchema as FlexibleSchema)
        : undefined,
    execute: executor,
    requireApproval: settings.requireApproval ?? toApprovalRule(name, tool.needsApproval, fields),
    provider,
    forModel: { inputSchema, providerOptions, strict, inputExamples },
    ...toInputHooks(name, tool, fields),
    ...(tool.type === 'dynamic' && { isDynamic: true }),
    toModelOutput,
  } as ToolDefinition);
}

/** Returns undefined for tools that the model gets with a schema. */
function toProviderTool(name: string, tool: AiSdkTool): ProviderTool | undefined {
  const { type, id, args = {}, supportsDeferredResults } = tool;
  if (type === undefined || type === 'function' || type === 'dynamic') return undefined;
  if (type === 'provider-defined') {
    const fault = `its type "${type}" is that of AI SDK 5; tools of AI SDK 6 and 7 are known here`;
    throw new DefinitionError(fault, { tool: name });
  }
  if (type !== 'provider' || id?.includes('.') !== true) {
    throw new DefinitionError(`its type "${type}" is not known`, { tool: name });
  }
  const { requireApproval = 'never' } = args as { requireApproval?: unknown };
  if (requireApproval !== 'never') {
    const fault = `requireApproval must be 'never': people cannot approve what the provider executes`;
    throw new DefinitionError(fault, { tool: name });
  }
  const defers = supportsDeferredResults === true ? { defers: true } : {};
  return { id: id as ProviderTool['id'], args: args as ProviderTool['args'], ...defers };
}

/** AI SDK 6 marks provider tools that the application executes only by their `execute`. */
function toExecutor(
  { type, execute, isProviderExecuted }: AiSdkTool,
  fields: ContextFields,
): ToolDefinition['execute'] {
  if (execute !== undefined) return toExecute(execute, fields);
  return type === 'provider' && isProviderExecuted !== false ? 'provider' : 'client';
}

/** Returns undefined for a blank description. */
function toDescription(description: AiSdkTool['description']): string | undefined {
  const text =
    typeof description === 'function'
      ? (description as (options: { context: undefined }) => string)({ context: undefined })
      : description;
  return typeof text === 'string' && text.trim() === '' ? undefined : text;
}

function toExecute(
  execute: NonNullable<AiSdkTool['execute']>,
  fields: ContextFields,
): ToolDefinition['execute'] {
  const run = execute as (input: unknown, options: ToolExecutionOptions<ToolContext>) => unknown;
  return async (input, context) => {
    const { toolCallId, abortSignal } = context;
    const options = { toolCallId, messages: NO_MESSAGES, abortSignal, ...(await fields(context)) };
    return lastOf(await run(input, options as ToolExecutionOptions<ToolContext>), context);
  };
}

/** Returns a result, or a generator's last value after its preliminary ones. */
async function lastOf(
  result: unknown,
  { abortSignal, showPreliminary }: ToolContext,
): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) {
    return result;
  }
  let last: unknown;
  for await (const each of result as AsyncIterable<unknown>) {
    last = each;
    showPreliminary(each);
    if (abortSignal.aborted) break;
  }
  return last;
}

function toApprovalRule(
  name: string,
  needsApproval: AiSdkTool['needsApproval'],
  fields: ContextFields,
): ToolDefinition['requireApproval'] {
  if (needsApproval === undefined || needsApproval === false) return undefined;
  if (needsApproval === true) return true;
  if (typeof needsApproval !== 'function') {
    throw new DefinitionError('needsApproval must be true, false or a function', { tool: name });
  }
  const asks = needsApproval as (input: unknown, options: object) => boolean | PromiseLike<boolean>;
  return async (input: unknown, { messages, ...call }: ApprovalCall) => {
    const options = { toolCallId: call.toolCallId, messages: [...messages] };
    const asked: unknown = await asks(input, { ...options, ...(await fields(call)) });
    return Boolean(asked);
  };
}

/**
 * Returns this runtime's context within the `execute` of an AI SDK tool.
 *
 * @throws Error if this runtime does not execute the tool
 * @example
 * import { tool } from 'ai';
 * import { toolContextOf } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * export const pay = tool({
 *   inputSchema: z.object({ amount: z.number() }),
 *   execute: ({ amount }, options) => ({ amount, key: toolContextOf(options).idempotencyKey }),
 * });
 */
export function toolContextOf(options: {
  context?: unknown;
  experimental_context?: unknown;
  [OWN_CONTEXT]?: unknown;
}): ToolContext {
  const context = options[OWN_CONTEXT] ?? options.context ?? options.experimental_context;
  if (typeof context === 'object' && context !== null && 'idempotencyKey' in context) {
    return context as ToolContext;
  }
  throw new Error('This tool was not called by an agent of helix-temporal.');
}

const HOOKS = {
  start: 'onInputStart',
  delta: 'onInputDelta',
  available: 'onInputAvailable',
} as const;

/** Returns an AI SDK tool's input hooks as a field of its definition. @throws DefinitionError */
function toInputHooks(
  name: string,
  tool: Partial<Record<(typeof HOOKS)[keyof typeof HOOKS], unknown>>,
  fields: ContextFields,
): Pick<ToolDefinition, 'onInput'> {
  const hooks = Object.entries(HOOKS).flatMap(([when, field]) => {
    const hook = tool[field];
    if (hook === undefined) return [];
    if (typeof hook !== 'function') {
      throw new DefinitionError(`${field} must be a function`, { tool: name });
    }
    const call = async (options: object): Promise<unknown> =>
      (hook as (options: object) => unknown)({ ...options, ...(await fields()) });
    return [[when, call]];
  });
  return hooks.length === 0 ? {} : { onInput: Object.fromEntries(hooks) as InputHooks };
}

function refuse(): never {
  throw new ToolError(
    'messages_unavailable',
    'The messages of the conversation cannot be read in execute: let the model pass what the tool needs in its input, keep it in the state (toolContextOf(options).getState()), or decide by the messages in needsApproval.',
  );
}

/**
 * Replaces the messages that `execute` gets in the AI SDK: a call may execute long after the model
 * made it, and an empty list would look like a conversation without messages. Code may pass it on;
 * any use throws.
 */
const NO_MESSAGES: ModelMessage[] = new Proxy<ModelMessage[]>([], {
  get: refuse,
  set: refuse,
  has: refuse,
  ownKeys: refuse,
  getOwnPropertyDescriptor: refuse,
});

const KNOWN = new Set([
  'type',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'execute',
  'needsApproval',
  'toModelOutput',
  'providerOptions',
  'strict',
  'inputExamples',
  'onInputStart',
  'onInputDelta',
  'onInputAvailable',
  'contextSchema',
  'id',
  'args',
  'isProviderExecuted',
  'supportsDeferredResults',
]);

/** Fields that only describe a tool, such as its MCP server, without effect on its behaviour. */
const LEFT_OUT = new Set(['metadata', '_meta']);

const LATER =
  'no tool can be loaded later; use prepareStep with activeTools to choose the tools of a step';

/** Replacements for fields that would silently have no effect. */
const INSTEAD: Readonly<Record<string, string>> = {
  deferLoading: LATER,
  parameters: 'tools of AI SDK 6 and 7 name it inputSchema',
  experimental_toToolResultContent: 'tools of AI SDK 6 and 7 name it toModelOutput',
};

/** @throws DefinitionError for a field that would silently have no effect */
function checkToolFields(name: string, tool: object): void {
  for (const [field, value] of Object.entries(tool)) {
    // An optional switch that is not set may be `false`.
    if (value === undefined || value === false || KNOWN.has(field) || LEFT_OUT.has(field)) continue;
    const instead = INSTEAD[field] ?? 'remove it, or pass the field as a setting of fromAiSdkTool';
    throw new DefinitionError(`"${field}" has no effect here; ${instead}`, { tool: name });
  }
}
