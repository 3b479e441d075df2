import { isAddressable } from '../ai-sdk/index.js';
import type { AgentDefinition } from '../agents/index.js';
import type { AgentCard, ToolCard } from '../protocol/replies.js';
import type { ApiDeps } from './deps.js';

/** Describes the agents that people may address, in order of registration. */
export function toAgentCards(agents: ApiDeps['agents']): AgentCard[] {
  return agents
    .getRegisteredTypes()
    .filter((name) => isAddressable(agents, name))
    .map((name) => {
      // A factory needs a person or a conversation to make its agent; this list has neither.
      const isMade = agents.isMade?.(name) === true;
      const { description, page, tools = [] } = (isMade ? undefined : agents.get?.(name)) ?? {};
      return {
        name,
        title: page?.title ?? name,
        description,
        openers: (page?.openers ?? []).map((opener) =>
          typeof opener === 'string' ? { label: opener, text: opener } : { ...opener },
        ),
        tools: tools.flatMap((tool) => toToolCard(tool) ?? []),
        listed: page?.listed ?? true,
      };
    });
}

/** Returns undefined if the tool's name is all there is to show. */
function toToolCard(tool: AgentDefinition['tools'][number]): ToolCard | undefined {
  const { name, title, subAgent } = tool;
  if (title === undefined && subAgent === undefined) return undefined;
  const agent =
    subAgent === undefined
      ? undefined
      : (title ?? subAgent.agent.page?.title ?? subAgent.agent.name);
  return { name, title, agent };
}
