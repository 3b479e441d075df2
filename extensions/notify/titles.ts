import { toWords } from '../../protocol/shown-call.js';
import type { AgentDefinition } from '../../agents/definitions.js';
import { withSubAgents, type AgentRegistry } from '../../agents/registry.js';

/** An agent registry, or the part of one that an API has. */
type Agents = Partial<Pick<AgentRegistry, 'get' | 'isMade'>>;

/** Returns an agent's title, or its name in words. */
export function titleOfAgent(agents: Agents, name: string): string {
  return find(agents, name)?.page?.title ?? toWords(name);
}

/**
 * Returns a tool's title: from the agent itself, else from one that it may delegate to. Tools of other agents may
 * share the name and do something else.
 */
export function titleOfTool(agents: Agents, agent: string, tool: string): string {
  const definition = find(agents, agent);
  const family = definition === undefined ? [] : [...withSubAgents(definition)];
  const known = family.flatMap(({ tools }) => tools).find(({ name }) => name === tool);
  return known?.title ?? toWords(tool);
}

/** Agents made by a factory are unknown here: the factory needs a person and a conversation. */
function find(agents: Agents, name: string): AgentDefinition | undefined {
  return agents.isMade?.(name) === true ? undefined : agents.get?.(name);
}
