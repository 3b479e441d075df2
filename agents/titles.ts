import { toWords } from '../protocol/to-words.js';
import type { AgentDefinition } from './definitions.js';
import type { AgentRegistry } from './registry.js';

/** A registry, or what an API has in its place. */
type Agents = Pick<AgentRegistry, 'getRegisteredTypes'> &
  Partial<Pick<AgentRegistry, 'get' | 'isMade'>>;

/** What an agent is called for people. Its name in words where no title is known. */
export function titleOfAgent(agents: Agents, name: string): string {
  return find(agents, name)?.page?.title ?? toWords(name);
}

/** What a tool is called for people: that of the agent, or else of one that it may delegate to. */
export function titleOfTool(agents: Agents, agent: string, tool: string): string {
  for (const name of [agent, ...agents.getRegisteredTypes()]) {
    const title = find(agents, name)?.tools.find((each) => each.name === tool)?.title;
    if (title !== undefined) return title;
  }
  return toWords(tool);
}

/** A factory makes its agent for a person or a conversation, and here is neither. */
function find(agents: Agents, name: string): AgentDefinition | undefined {
  return agents.isMade?.(name) === true ? undefined : agents.get?.(name);
}
