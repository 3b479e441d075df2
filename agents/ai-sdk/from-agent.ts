import type { z } from 'zod';
import { defineAgent, type AgentConfig } from '../define-agent.js';
import { DefinitionError } from '../definition-error.js';
import { type LlmSettings, type ModelChoice, isChoice } from '../llm-settings.js';
import type { ToolDefinition } from '../definitions.js';
import type { OnFinish, OnStepFinish } from '../step-hooks.js';
import type { TypedAgent } from '../tool-types.js';
import { toTools, type AgentTools } from './agent-tools.js';
import { checkSettings, SAMPLING } from './check-settings.js';
import { contextsOf, withContexts, type AgentContexts } from './contexts.js';
import { bothHooks, bothPrepare, toPrepareStep, type CallOptions } from './join-hooks.js';
import { toOutputSchema } from './output-schema.js';
import { withApprovals, type ToolApproval } from './tool-approval.js';

/** A `ToolLoopAgent` of AI SDK 6 or 7, or its settings. */
export type AiSdkAgent = object;

/** Settings of this runtime that AI SDK agents lack; they override the agent's own. */
export type AgentSettings<
  State extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  Tools extends AgentTools = AgentTools,
  Name extends string = string,
> = Partial<Omit<AgentConfig<State, Output, Tools, Name>, 'llmConfig'>> & {
  llmConfig?: Partial<LlmSettings>;
  /** Value of `options` for the agent's `prepareCall`. */
  callOptions?: CallOptions;
};

/** The tools of the second argument, else those of the agent. */
type ToolsOf<Agent, More> = [More] extends [never]
  ? Agent extends { readonly tools?: infer Tools }
    ? Tools
    : readonly []
  : More;

/** Step limit of an agent that sets none, as in the AI SDK. */
const DEFAULT_STEPS = 20;

/**
 * Converts an AI SDK agent to an agent of this runtime: instructions, tools, `stopWhen`,
 * `prepareStep`, sampling, hooks. The second argument adds this runtime's settings. Only `stopWhen`
 * limits a run's steps (default: 20 steps). A `prepareStep` and hooks in the second argument run in
 * addition to the agent's; its other fields replace the agent's.
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
  const { llmConfig, callOptions, ...own } = more;
  const name: string | undefined = own.name ?? (settings['id'] as string | undefined);
  if (name === undefined) {
    throw new DefinitionError('it has no id; write fromAgent(agent, { name })', {});
  }
  checkSettings(settings, name);
  const contexts = contextsOf(settings);
  const given = (own.tools ?? settings['tools']) as AgentConfig<State, Output>['tools'];
  const approval = settings['toolApproval'] as ToolApproval | undefined;
  checkSources(own.toolSources, approval, name);
  const limits = toTimeLimits(settings['timeout'], name);
  const { maxRetries, stopWhen } = settings as { maxRetries?: number; stopWhen?: unknown };
  const { providerOptions = settings['providerOptions'] } = llmConfig ?? {};
  const ofCall = { ...settings, providerOptions };
  const config = {
    systemPrompt: settings['instructions'] ?? '',
    maxSteps: stopWhen === undefined ? DEFAULT_STEPS : Infinity,
    stopWhen,
    toolChoice: settings['toolChoice'],
    activeTools: settings['activeTools'],
    repairToolCall: settings['repairToolCall'] ?? settings['experimental_repairToolCall'],
    ...own,
    prepareStep: bothPrepare(toPrepareStep(ofCall, contexts, callOptions, name), own.prepareStep),
    onStepFinish: bothHooks(
      withContexts(
        (settings['onStepEnd'] ?? settings['onStepFinish']) as OnStepFinish | undefined,
        contexts,
      ),
      own.onStepFinish,
    ),
    onFinish: bothHooks(withContexts(endHookOf(settings, isOfSix(agent)), contexts), own.onFinish),
    outputSchema: own.outputSchema ?? toOutputSchema(settings['output'], name),
    tools: withRules(given, { approval, limits, contexts }, name),
    name,
    llmConfig: {
      stallTimeoutMs: limits?.stallTimeoutMs,
      ...Object.fromEntries(SAMPLING.map((field) => [field, settings[field]])),
      maxTries: maxRetries === undefined ? undefined : maxRetries + 1,
      ...llmConfig,
      providerOptions: settings['prepareCall'] === undefined ? providerOptions : undefined,
      model: withCallLimits(llmConfig?.model ?? settings['model'], limits),
    },
  };
  const agentConfig = withoutUndefined(config) as unknown as AgentConfig<State, Output>;
  return defineAgent(agentConfig) as TypedAgent<ToolsOf<Agent, Tools>, z.output<Output>, Name>;
}

/** Settings that an agent applies to all of its tools. */
interface Rules {
  approval: ToolApproval | undefined;
  limits: TimeLimits | undefined;
  contexts: AgentContexts | undefined;
}

/** Returns the tools unchanged unless the agent has rules, limits, or contexts for them. */
function withRules<Given extends AgentTools | undefined>(
  given: Given,
  { approval, limits, contexts }: Rules,
  agent: string,
): Given | ToolDefinition[] {
  if (approval === undefined && limits === undefined && contexts === undefined) return given;
  const tools = toTools(given, agent, contexts);
  const ruled = approval === undefined ? tools : withApprovals(tools, approval, agent, contexts);
  return limits === undefined ? ruled : withTimeLimits(ruled, limits);
}

/** Reads the settings of a `ToolLoopAgent`, which both versions make private only in TypeScript. */
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

/** Returns true for AI SDK 6: version 7 always sets `onEnd`. */
function isOfSix(agent: { version?: unknown; settings?: object }): boolean {
  return agent.version !== undefined && !('onEnd' in (agent.settings ?? {}));
}

/** Adapts the event: in AI SDK 6 it is the last step with a list of all; in 7 it combines them. */
function endHookOf(settings: Record<string, unknown>, ofSix: boolean): OnFinish | undefined {
  const hook = (settings['onEnd'] ?? settings['onFinish']) as OnFinish | undefined;
  if (typeof hook !== 'function' || !ofSix) return hook;
  return (event) => {
    const { response } = event;
    return hook({
      ...event,
      ...event.finalStep,
      // AI SDK 6 puts the messages of all steps into the response.
      response: Object.defineProperty({ ...response, messages: [] }, 'messages', {
        get: () => event.responseMessages,
        enumerable: true,
      }),
    });
  };
}

/** Refuses a rule for tools of sources, which are known only as a run begins. */
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

/** Limits that the AI SDK's `timeout` setting becomes here. */
interface TimeLimits {
  /** Limits of each model call. */
  call: Pick<ModelChoice, 'callMs' | 'firstPartMs'>;
  /** Longest silence of a model, ms. */
  stallTimeoutMs: number | undefined;
  /** Limit of each server-executed call of a tool, ms. */
  toolMs: (name: string) => number | undefined;
}

/**
 * Converts the AI SDK's `timeout`. Its step limit includes tools; here it bounds a model call.
 *
 * @throws DefinitionError for a limit of a whole run, which may wait for people for weeks
 */
function toTimeLimits(timeout: unknown, agent: string): TimeLimits | undefined {
  if (timeout === undefined || timeout === null) return undefined;
  const {
    totalMs,
    stepMs,
    firstChunkMs,
    chunkMs,
    toolMs,
    tools = {},
  } = (typeof timeout === 'object' ? timeout : { totalMs: timeout }) as Partial<
    Record<string, number>
  > & { tools?: Readonly<Record<string, number>> };
  if (totalMs !== undefined) {
    const instead = 'use timeout: { stepMs, chunkMs, toolMs }, maxSteps and spendCap';
    throw new DefinitionError(`a run may wait for people, so nothing bounds its time; ${instead}`, {
      agent,
    });
  }
  return {
    call: {
      ...(stepMs !== undefined && { callMs: stepMs }),
      ...(firstChunkMs !== undefined && { firstPartMs: firstChunkMs }),
    },
    stallTimeoutMs: chunkMs,
    toolMs: (name) => tools[`${name}Ms`] ?? toolMs,
  };
}

/** Adds limits to models, as a list; models with their own limits keep them. */
function withCallLimits(model: unknown, limits: TimeLimits | undefined): unknown {
  if (limits === undefined || Object.keys(limits.call).length === 0) return model;
  const models: readonly unknown[] = Array.isArray(model) ? model : [model];
  return models.map((each) => ({ ...limits.call, ...(isChoice(each) ? each : { model: each }) }));
}

/** Adds limits to tools; a tool with its own limit keeps it. */
function withTimeLimits(
  tools: readonly ToolDefinition[],
  { toolMs }: TimeLimits,
): ToolDefinition[] {
  return tools.map((tool) => {
    const limit = toolMs(tool.name);
    if (limit === undefined || typeof tool.execute !== 'function') return tool;
    return tool.timeoutMs === undefined ? Object.freeze({ ...tool, timeoutMs: limit }) : tool;
  });
}
