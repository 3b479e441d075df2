import { toWords } from '../../protocol/shown-call.js';
import type { AgentDefinition } from '../../agents/definitions.js';
import { withSubAgents, type AgentRegistry } from '../../agents/registry.js';

/** A registry, or what an API has in its place. */
type Agents = Partial<Pick<AgentRegistry, 'get' | 'isMade'>>;

/** What an agent is called for people. Its name in words where no title is known. */
export function titleOfAgent(agents: Agents, name: string): string {
  return find(agents, name)?.page?.title ?? toWords(name);
}

/**
 * What a tool is called for people: that of the agent, or else of one that it may delegate to. A tool of another
 * agent may do something else under the same name, so its title is not taken.
 */
export function titleOfTool(agents: Agents, agent: string, tool: string): string {
  const definition = find(agents, agent);
  const family = definition === undefined ? [] : [...withSubAgents(definition)];
  const known = family.flatMap(({ tools }) => tools).find(({ name }) => name === tool);
  return known?.title ?? toWords(tool);
}

/** A factory makes its agent for a person or a conversation, and here is neither. */
function find(agents: Agents, name: string): AgentDefinition | undefined {
  return agents.isMade?.(name) === true ? undefined : agents.get?.(name);
}
