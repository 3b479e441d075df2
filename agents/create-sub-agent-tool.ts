import type { z } from 'zod';
import { DefinitionError } from './definition-error.js';
import type { AgentDefinition, ToolDefinition } from './definitions.js';
import { findToolFault } from './tool-faults.js';

/** What the default name of a sub-agent tool begins with; the agent's name follows. */
export const SUBAGENT_TOOL_PREFIX = 'subagent__';

/** A tool that is carried out by another agent. */
export interface SubAgentToolConfig<Input extends z.ZodType> {
  /**
   * Carries the call out, in a session of its own. Its result is the call's: what it hands in if
   * it has an `outputSchema`, else the last text that it said.
   */
  agent: AgentDefinition;
  /** What the model calls it. Default: `subagent__` and the name of the agent. */
  name?: string;
  /** Tells the model when and how to delegate. Default: the agent's own description. */
  description?: string;
  /** Must describe an object. */
  inputSchema: Input;
  /** The user message that the sub-agent is given. Default: the input as JSON. */
  toMessage?: (input: z.output<Input>) => string;
}

/**
 * Declares a tool whose calls start a run of another agent. Pure data: nothing runs.
 *
 * @throws DefinitionError that names the agent and the tool and says what is wrong
 */
export function createSubAgentTool<Input extends z.ZodType>(
  config: SubAgentToolConfig<Input>,
): ToolDefinition {
  const { agent, inputSchema, toMessage = JSON.stringify } = config;
  // Checked at run time too: a definition may come from plain JavaScript.
  const agentName = (agent as AgentDefinition | undefined)?.name;
  const name = config.name ?? `${SUBAGENT_TOOL_PREFIX}${agentName ?? ''}`;
  if (agentName === undefined) throw new DefinitionError('agent is missing', { tool: name });
  const description = config.description ?? agent.description ?? '';
  const tool: ToolDefinition = {
    name,
    description,
    inputSchema,
    execute: 'agent',
    // Sound for the same reason as in defineTool: the input comes out of `inputSchema`.
    subAgent: Object.freeze({ agent, toMessage: toMessage as (input: unknown) => string }),
  };
  const fault = findToolFault(tool);
  if (fault !== undefined) throw new DefinitionError(fault, { agent: agentName, tool: name });
  return Object.freeze(tool);
}

/** True for tools that `createSubAgentTool` made. */
export function isSubAgentTool(
  tool: ToolDefinition,
): tool is ToolDefinition & Required<Pick<ToolDefinition, 'subAgent'>> {
  return tool.subAgent !== undefined;
}
