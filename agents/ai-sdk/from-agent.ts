import type { z } from 'zod';
import type { AgentConfig } from '../agent-config.js';
import { defineAgent } from '../define-agent.js';
import { DefinitionError } from '../definition-error.js';
import type { AgentDefinition, LlmConfig } from '../definitions.js';
import { toTools } from './agent-tools.js';
import { withApprovals, type ToolApproval } from './tool-approval.js';

/** A `ToolLoopAgent` of the AI SDK 6 or 7, or the settings that one is made with. */
export type AiSdkAgent = object;

/** What this runtime knows of an agent beyond what the AI SDK does; counts before its settings. */
export type AgentSettings<
  State extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
> = Partial<Omit<AgentConfig<State, Output>, 'llmConfig'>> & { llmConfig?: Partial<LlmConfig> };

/** Steps of an agent that says nothing, as in the AI SDK. */
const DEFAULT_STEPS = 20;

const SAMPLING = [
  ...(['temperature', 'maxOutputTokens', 'topP', 'topK', 'presencePenalty'] as const),
  ...(['frequencyPenalty', 'stopSequences', 'seed', 'reasoning'] as const),
  ...(['headers', 'providerOptions'] as const),
];

/** Settings that are the runtime's own business here, or concern what does not exist here. */
const NOT_NEEDED = new Set([
  ...['allowSystemInMessages', 'include', 'telemetry', 'experimental_telemetry'],
  'experimental_toolApprovalSecret',
]);

const KNOWN = new Set<string>([
  ...SAMPLING,
  ...['id', 'model', 'instructions', 'tools', 'toolChoice', 'activeTools', 'stopWhen'],
  ...['prepareStep', 'toolApproval', 'maxRetries', 'repairToolCall', 'experimental_repairToolCall'],
  ...['onStepFinish', 'onStepEnd', 'onFinish', 'onEnd'],
]);

/** What to do about settings that a durable run has no place for. */
const INSTEAD: Readonly<Record<string, string>> = {
  output: 'pass { outputSchema } as the second argument',
  prepareCall: 'use prepareStep, or a factory of the registry for what depends on the user',
  callOptionsSchema: 'use stateSchema, or a factory of the registry for what depends on the user',
  runtimeContext: 'use the services of the worker: toolContextOf(options).services',
  toolsContext: 'use the services of the worker: toolContextOf(options).services',
  experimental_context: 'use the services of the worker: toolContextOf(options).services',
  timeout: 'use llmConfig: { stallTimeoutMs, retryForMs } and timeoutMs of the tools',
};

/**
 * An agent of the AI SDK, as it is, as an agent of this runtime: instructions, tools, `stopWhen`,
 * `prepareStep`, sampling, hooks. The second argument adds what only this runtime knows. A run has no
 * limit of steps but `stopWhen` (default: 20 steps).
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
>(agent: AiSdkAgent, more: AgentSettings<State, Output> = {}): AgentDefinition {
  const settings = readSettings(agent);
  const { llmConfig, ...own } = more;
  const name = own.name ?? (settings['id'] as string | undefined);
  if (name === undefined) {
    throw new DefinitionError('it has no id; write fromAgent(agent, { name })', {});
  }
  checkSettings(settings, name, more);
  const given = (own.tools ?? settings['tools']) as AgentConfig<State, Output>['tools'];
  const approval = settings['toolApproval'] as ToolApproval | undefined;
  checkServers(own.mcpServers, approval, name);
  const { maxRetries, stopWhen } = settings as { maxRetries?: number; stopWhen?: unknown };
  const config = {
    systemPrompt: settings['instructions'] ?? '',
    maxSteps: stopWhen === undefined ? DEFAULT_STEPS : Infinity,
    stopWhen,
    toolChoice: settings['toolChoice'],
    activeTools: settings['activeTools'],
    prepareStep: settings['prepareStep'],
    repairToolCall: settings['repairToolCall'] ?? settings['experimental_repairToolCall'],
    onStepFinish: settings['onStepEnd'] ?? settings['onStepFinish'],
    onFinish: settings['onEnd'] ?? settings['onFinish'],
    ...own,
    tools: approval === undefined ? given : withApprovals(toTools(given, name), approval, name),
    name,
    llmConfig: {
      model: settings['model'],
      ...Object.fromEntries(SAMPLING.map((field) => [field, settings[field]])),
      maxTries: maxRetries === undefined ? undefined : maxRetries + 1,
      ...llmConfig,
    },
  };
  return defineAgent(withoutUndefined(config) as unknown as AgentConfig<State, Output>);
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

/** What would silently not happen is refused. */
function checkSettings(settings: Record<string, unknown>, agent: string, more: object): void {
  for (const [field, value] of Object.entries(settings)) {
    if (value === undefined || KNOWN.has(field) || NOT_NEEDED.has(field)) continue;
    if (field === 'output' && 'outputSchema' in more) continue;
    const instead = INSTEAD[field] ?? 'remove it';
    throw new DefinitionError(`"${field}" cannot be kept in a durable run; ${instead}`, { agent });
  }
}

/** Tools of servers are known only as a run begins, when no rule is put on them. */
function checkServers(
  servers: object | undefined,
  approval: ToolApproval | undefined,
  agent: string,
): void {
  if (typeof approval !== 'function' || servers === undefined) return;
  const fault = 'toolApproval as a function does not rule on the tools of mcpServers';
  const instead = 'name the tools in toolApproval, and those of a server in its approve';
  throw new DefinitionError(`${fault}; ${instead}`, { agent });
}

function withoutUndefined(config: { llmConfig: object }): object {
  const defined = (fields: object): object =>
    Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { ...defined(config), llmConfig: defined(config.llmConfig) };
}
