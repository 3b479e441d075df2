import type { z } from 'zod';
import { LIMITS } from '../protocol/limits.js';
import { DefinitionError } from './definition-error.js';
import type { AgentDefinition, LlmConfig, SpendCap, ToolDefinition } from './definitions.js';
import { findLlmFault, findSpendFault } from './llm-faults.js';
import type { PrepareStep } from './prepare-step.js';
import { findNameFault } from './names.js';
import { findStateFault } from './state-faults.js';
import { findOutputFault, findToolFault } from './tool-faults.js';

/** Model calls a turn may take when an agent sets no `maxSteps`. */
export const DEFAULT_MAX_STEPS = LIMITS.maxSteps;

/** An agent as its author writes it; the system prompt is typed from the state schema. */
export interface AgentConfig<State extends z.ZodType, Output extends z.ZodType> {
  /** What sessions are bound to: `[A-Za-z0-9_-]{1,64}`, unique within a registry. */
  name: string;
  description?: string;
  /**
   * Whether people may talk to it, or only agents that delegate to it. Default: only agents, unless
   * it is registered by itself.
   */
  public?: boolean;
  systemPrompt: string | ((state: z.output<State>) => string);
  tools?: readonly ToolDefinition[];
  /** State kept with the session; must accept `{}`, so give every field a default. */
  stateSchema?: State;
  /** The turn ends with a result of this shape, handed in by the model as a tool call. */
  outputSchema?: Output;
  llmConfig: LlmConfig;
  /** Model calls a turn may take; `Infinity` for no limit. Default: {@link DEFAULT_MAX_STEPS}. */
  maxSteps?: number;
  /** Calls of one step that are carried out, 1 to 1,000; the others get an error. Default: 100. */
  maxCallsPerStep?: number;
  /** What one run may use. Default: no limit. */
  spendCap?: SpendCap;
  /** Decides what of a long conversation the model is told. Default: all of it. */
  prepareStep?: PrepareStep;
}

/**
 * Declares an agent. Pure data: nothing runs, no model is created.
 *
 * @throws DefinitionError that names the agent, and the tool if it is about one
 */
export function defineAgent<
  State extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
>(config: AgentConfig<State, Output>): AgentDefinition {
  const { llmConfig, tools = [] } = config;
  // Dropping the state's type is sound: the runtime only passes what `stateSchema` produced.
  const agent = { ...config, tools: Object.freeze([...tools]) } as AgentDefinition;
  const fault = findAgentFault(agent);
  if (fault !== undefined) throw new DefinitionError(fault, { agent: agent.name });
  assertTools(agent);
  return Object.freeze({ ...agent, llmConfig: Object.freeze({ ...llmConfig }) });
}

/** How many model calls a turn of this agent may take. */
export function resolveMaxSteps({ maxSteps }: Pick<AgentDefinition, 'maxSteps'>): number {
  return maxSteps ?? DEFAULT_MAX_STEPS;
}

function findAgentFault(agent: AgentDefinition): string | undefined {
  const { name, systemPrompt, stateSchema, outputSchema, llmConfig, maxSteps, prepareStep } = agent;
  const nameFault = findNameFault(name);
  if (nameFault !== undefined) return nameFault;
  if (typeof systemPrompt !== 'string' && typeof systemPrompt !== 'function') {
    return 'systemPrompt must be a string or a function of the state';
  }
  if (prepareStep !== undefined && typeof prepareStep !== 'function') {
    return 'prepareStep must be a function';
  }
  // Checked at run time too: a definition may come from plain JavaScript.
  if (!(llmConfig as LlmConfig | undefined)?.model) return 'llmConfig.model is missing';
  if (
    maxSteps !== undefined &&
    maxSteps !== Infinity &&
    !(Number.isSafeInteger(maxSteps) && maxSteps > 0)
  ) {
    return 'maxSteps must be a whole number above 0, or Infinity';
  }
  const { maxCallsPerStep = 1 } = agent;
  if (!(Number.isSafeInteger(maxCallsPerStep) && maxCallsPerStep > 0 && maxCallsPerStep <= 1000)) {
    return 'maxCallsPerStep must be a whole number from 1 to 1,000';
  }
  return (
    (stateSchema && findStateFault(stateSchema)) ??
    (outputSchema && findOutputFault(outputSchema)) ??
    findLlmFault(llmConfig) ??
    findSpendFault(agent)
  );
}

function assertTools(agent: AgentDefinition): void {
  const names = new Set<string>();
  for (const tool of agent.tools) {
    const fault = names.has(tool.name) ? 'the name is used by two tools' : findToolFault(tool);
    if (fault !== undefined) {
      throw new DefinitionError(fault, { agent: agent.name, tool: tool.name });
    }
    names.add(tool.name);
  }
}
