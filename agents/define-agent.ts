import type { z } from 'zod';
import { FINISH_TOOL_NAME } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { toTools, type AgentTools } from './ai-sdk/agent-tools.js';
import { AgentConfig as Config, type AgentShape } from './agent-config.js';
import { assertTool } from './define-tool.js';
import { assertSettings, DefinitionError } from './definition-error.js';
import type { AgentDefinition } from './definitions.js';
import type { Instructions } from './step-hooks.js';
import { toLlmConfig } from './llm-settings.js';
import type { TypedAgent } from './tool-types.js';

/** An agent as its author writes it; the system prompt is typed from the state schema. */
export interface AgentConfig<
  State extends z.ZodType,
  Output extends z.ZodType,
  Tools extends AgentTools = AgentTools,
  Name extends string = string,
> extends Omit<AgentShape, 'name' | 'systemPrompt' | 'tools' | 'stateSchema' | 'outputSchema'> {
  /** The name that sessions are bound to: `[A-Za-z0-9_-]{1,64}`, unique within a registry. */
  name: Name;
  /** A text, or messages that can carry `providerOptions`, such as a cache point. */
  systemPrompt: Instructions | ((state: z.output<State>) => Instructions);
  /**
   * A list of tools from `defineTool` and similar functions, or an object by name, which may
   * contain AI SDK tools unchanged.
   */
  tools?: Tools;
  /** State kept with the session; must accept `{}`, so give every field a default. */
  stateSchema?: State;
  /** The turn ends with a result of this shape, which the model submits as a tool call. */
  outputSchema?: Output;
}

/** Model calls a turn may take when an agent sets no `maxSteps`. */
export const DEFAULT_MAX_STEPS = LIMITS.maxSteps;

/**
 * Declares an agent; `extensions/agents.ts` adds the fields of extensions.
 *
 * @throws DefinitionError that names the agent, each wrong field, and the tool that has it
 */
export function defineAgent<
  State extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
  const Tools extends AgentTools = AgentTools,
  const Name extends string = string,
>(config: AgentConfig<State, Output, Tools, Name>): TypedAgent<Tools, z.output<Output>, Name> {
  const { name, llmConfig } = config;
  assertSettings(Config, config, { agent: name });
  const tools = toTools(config.tools, name);
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    assertTool(tool, { agent: name, index });
    if (names.has(tool.name)) {
      throw new DefinitionError('another tool has the same name', { agent: name, tool: tool.name });
    }
    names.add(tool.name);
  }
  for (const { listedAs } of tools) if (listedAs !== undefined) names.add(listedAs);
  assertNames(config, names);
  // Dropping the state's type is sound: the runtime only passes what `stateSchema` returned.
  return Object.freeze({
    ...config,
    tools: Object.freeze(tools),
    llmConfig: Object.freeze(toLlmConfig(llmConfig)),
  } as TypedAgent<Tools, z.output<Output>, Name>);
}

/** Refuses names of missing tools, unless sources may still bring them. */
function assertNames(
  { name: agent, toolSources, outputSchema, activeTools = [], toolChoice }: NamedTools,
  names: ReadonlySet<string>,
): void {
  if (toolSources !== undefined) return;
  const chosen = typeof toolChoice === 'object' ? [toolChoice.toolName] : [];
  for (const [field, listed] of Object.entries({ activeTools, toolChoice: chosen })) {
    const unknown = listed.find(
      (name) => !names.has(name) && !(outputSchema !== undefined && name === FINISH_TOOL_NAME),
    );
    if (unknown === undefined) continue;
    const known = names.size === 0 ? 'it has no tools' : `its tools are ${[...names].join(', ')}`;
    throw new DefinitionError(`${field} names "${unknown}", which is no tool; ${known}`, { agent });
  }
}

type NamedTools = Pick<
  AgentConfig<z.ZodType, z.ZodType>,
  'name' | 'toolSources' | 'outputSchema' | 'activeTools' | 'toolChoice'
>;

/** Returns the limit of model calls in a turn of this agent. */
export function resolveMaxSteps({ maxSteps }: Pick<AgentDefinition, 'maxSteps'>): number {
  return maxSteps ?? DEFAULT_MAX_STEPS;
}
