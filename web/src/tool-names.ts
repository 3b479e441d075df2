import type { AgentCard, ToolCard } from '../../protocol/replies.js';
import { toWords } from '../../protocol/shown-call.js';

const PREFIX = 'subagent__';

/** What tools are called for people. */
export interface ToolNames {
  titleOf: (tool: string) => string;
  /** Who carries a tool's calls out; undefined if it is no other agent. */
  agentOf: (tool: string) => string | undefined;
}

/** The names of an agent's tools. A page may not know which agent an old conversation is bound to, so others count too. */
export function toToolNames(cards: readonly AgentCard[], agent: string): ToolNames {
  const known = new Map<string, ToolCard>();
  const own = cards.filter(({ name }) => name === agent);
  for (const { tools } of [...own, ...cards]) {
    for (const tool of tools) if (!known.has(tool.name)) known.set(tool.name, tool);
  }
  return {
    titleOf: (tool) => known.get(tool)?.title ?? toWords(tool),
    agentOf: (tool) =>
      known.get(tool)?.agent ?? (tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : undefined),
  };
}

/** What an agent is called for people. */
export function titleOfAgent(cards: readonly AgentCard[], agent: string): string {
  return cards.find(({ name }) => name === agent)?.title ?? toWords(agent);
}
