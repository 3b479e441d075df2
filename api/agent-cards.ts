import { isAddressable } from '../ai-sdk/index.js';
import type { AgentCard } from '../protocol/replies.js';
import type { ApiDeps } from './deps.js';

/** The agents that people may talk to, as pages present them, in order of registration. */
export function toAgentCards(agents: ApiDeps['agents']): AgentCard[] {
  return agents
    .getRegisteredTypes()
    .filter((name) => isAddressable(agents, name))
    .map((name) => {
      // A factory makes its agent for a person or a conversation, and here is neither.
      const isMade = agents.isMade?.(name) === true;
      const { description, page } = (isMade ? undefined : agents.get?.(name)) ?? {};
      return {
        name,
        title: page?.title ?? name,
        description,
        openers: (page?.openers ?? []).map((opener) =>
          typeof opener === 'string' ? { label: opener, text: opener } : { ...opener },
        ),
        listed: page?.listed ?? true,
      };
    });
}
