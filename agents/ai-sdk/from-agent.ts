import type { z } from 'zod';
import { defineAgent, type AgentConfig } from '../define-agent.js';
import { DefinitionError } from '../definition-error.js';
import type { LlmSettings } from '../llm-settings.js';
import type { TypedAgent } from '../tool-types.js';
import { toTools, type AgentTools } from './ai-sdk-tool.js';
import { toOutputSchema } from './output-schema.js';
import { withApprovals, type ToolApproval } from './tool-approval.js';

/** A `ToolLoopAgent` of the AI SDK 6 or 7, or the settings that one is made with. */
export type AiSdkAgent = object;

/** What this runtime knows of an agent beyond what the AI SDK does; counts before its settings. */
export type AgentSettings<
  State extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Tools extends AgentTools = AgentTools,
  Name extends string = string,
> = Partial<Omit<AgentConfig<State, Output, Tools, Name>, 'llmConfig'>> & {
  llmConfig?: Partial<LlmSettings>;
};

/** The tools of the second argument, else those of the agent. */
type ToolsOf<Agent, More> = [More] extends [never]
  ? Agent extends { readonly tools?: infer Tools }
    ? Tools
    : readonly []
  : More;

/** Steps of an agent that says nothing, as in the AI SDK. */
const DEFAULT_STEPS = 20;

/**
 * An agent of the AI SDK, as it is, as an agent of this runtime: instructions, tools, `stopWhen`,
 * `prepareStep`, sampling, hooks. The second argument adds what only this runtime knows. A run has no
 * limit of steps but `stopWhen` (default: 20 steps). Fields of the second argument count in place of the agent's.
 *
 * @throws DefinitionError for an agent without a name, and for settings that cannot be kept here
 * @example
 * import { openai } from '@ai-sdk/openai';
 * import { stepCountIs, tool, ToolLoopAgent } from 'ai';
 * import { fromAgent } from 'helix-temporal';
 * import { z } from 'zod';
 *
 * const guide = new ToolLoopAgent({
 *   model: openai('gpt-5'),
 *   instructions: 'You plan day trips.',
 *   tools: {
 *     weather: tool({
 *       inputSchema: z.object({ city: z.string() }),
 *       execute: async ({ city }) => ({ city, celsius: 21 }),
 *     }),
 *   },
 *   stopWhen: stepCountIs(10),
 * });
 *
 * export default fromAgent(guide, { name: 'guide', activities: 'leg' });
 */
export function fromAgent<
  State extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Agent extends AiSdkAgent = AiSdkAgent,
  const Tools extends AgentTools = never,
  const Name extends string = string,
>(
  agent: Agent,
  more: AgentSettings<State, Output, Tools, Name> = {},
): TypedAgent<ToolsOf<Agent, Tools>, z.output<Output>, Name> {
  const settings = readSettings(agent);
  const { llmConfig, ...own } = more;
  const name: string | undefined = own.name ?? (settings['id'] as string | undefined);
  if (name === undefined) {
    throw new DefinitionError('it has no id; write fromAgent(agent, { name })', {});
  }
  checkSettings(settings, name);
  const given = (own.tools ?? settings['tools']) as AgentConfig<State, Output>['tools'];
  const approval = settings['toolApproval'] as ToolApproval | undefined;
  checkSources(own.toolSources, approval, name);
  const { maxRetries, stopWhen } = settings as { maxRetries?: number; stopWhen?: unknown };
  const config = {
    systemPrompt: settings['instructions'] ?? '',
    maxSteps: stopWhen === undefined ? DEFAULT_STEPS : Infinity,
    ...Object.fromEntries(AS_HERE.map((field) => [field, settings[field]])),
    repairToolCall: settings['repairToolCall'] ?? settings['experimental_repairToolCall'],
    onStepFinish: settings['onStepEnd'] ?? settings['onStepFinish'],
    onFinish: settings['onEnd'] ?? settings['onFinish'],
    ...own,
    outputSchema: own.outputSchema ?? toOutputSchema(settings['output'], name),
    tools: approval === undefined ? given : withApprovals(toTools(given, name), approval, name),
    name,
    llmConfig: {
      ...Object.fromEntries(SAMPLING.map((field) => [field, settings[field]])),
      maxTries: maxRetries === undefined ? undefined : maxRetries + 1,
      ...llmConfig,
      model: llmConfig?.model ?? settings['model'],
    },
  };
  const agentConfig = withoutUndefined(config) as unknown as AgentConfig<State, Output>;
  return defineAgent(agentConfig) as TypedAgent<ToolsOf<Agent, Tools>, z.output<Output>, Name>;
}

/** Sampling and what else goes with a model call: the same names as in `llmConfig`. */
const SAMPLING = [
  'temperature',
  'maxOutputTokens',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'stopSequences',
  'seed',
  'reasoning',
  'headers',
  'providerOptions',
];

/** Settings that have the same name in `defineAgent`. */
const AS_HERE = ['stopWhen', 'prepareStep', 'toolChoice', 'activeTools'];

/**
 * `include` and the last four are the runtime's own business here: what its traces contain is the operator's choice, and
 * the server's own record authorises calls.
 */
const KNOWN = new Set([
  ...SAMPLING,
  ...AS_HERE,
  ...['id', 'model', 'instructions', 'tools', 'toolApproval', 'maxRetries', 'output'],
  ...['repairToolCall', 'experimental_repairToolCall'],
  ...['onStepFinish', 'onStepEnd', 'onFinish', 'onEnd', 'include', 'allowSystemInMessages'],
  ...['telemetry', 'experimental_telemetry', 'experimental_toolApprovalSecret'],
]);

/** What to do about settings that a durable run has no place for. */
const INSTEAD: Readonly<Record<string, string>> = {
  system: 'AI SDK 6 and 7 name it instructions',
  prepareCall: 'use prepareStep, which gets the state and the metadata of the message',
  callOptionsSchema: 'use prepareStep, which gets the state and the metadata of the message',
  timeout: 'use llmConfig: { model: [{ model, callMs }], stallTimeoutMs } and timeoutMs of tools',
};
const CONTEXT = 'use services of the worker: toolContextOf(options).services';
const CALLBACKS = 'use onStepEnd and onEnd, or the traces and metrics of the worker';

/** What would silently not happen is refused. @throws DefinitionError */
function checkSettings(settings: Record<string, unknown>, agent: string): void {
  for (const [field, value] of Object.entries(settings)) {
    if (value === undefined || KNOWN.has(field)) continue;
    const other = /context$/i.test(field) ? CONTEXT : 'remove it';
    const instead = INSTEAD[field] ?? (/on[A-Z]/.test(field) ? CALLBACKS : other);
    throw new DefinitionError(`"${field}" cannot be kept in a durable run; ${instead}`, { agent });
  }
}

/** The settings of a `ToolLoopAgent` are private to TypeScript alone, in both versions. */
function readSettings(agent: object): Record<string, unknown> {
  const { settings } = agent as { settings?: unknown };
  if ('version' in agent && typeof settings === 'object' && settings !== null) {
    return { ...settings };
  }
  if (typeof agent !== 'object' || !('model' in agent)) {
    const fault = 'its settings cannot be read; pass them as an object: fromAgent({ model, … })';
    throw new DefinitionError(fault, {});
  }
  return { ...agent };
}

/** Tools of sources are known only as a run begins, when no rule is put on them. */
function checkSources(
  sources: object | undefined,
  approval: ToolApproval | undefined,
  agent: string,
): void {
  if (typeof approval !== 'function' || sources === undefined) return;
  const fault = 'toolApproval as a function does not rule on the tools of toolSources';
  const instead = 'name the tools in toolApproval, and those of a server in its approve';
  throw new DefinitionError(`${fault}; ${instead}`, { agent });
}

function withoutUndefined(config: { llmConfig: object }): object {
  const defined = (fields: object): object =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { ...defined(config), llmConfig: defined(config.llmConfig) };
}
