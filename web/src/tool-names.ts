import type { AgentCard, ToolCard } from '../../protocol/replies.js';
import { toWords } from '../../protocol/shown-call.js';

const PREFIX = 'subagent__';

export interface ToolNames {
  titleOf: (tool: string) => string;
  /** Returns the sub-agent behind a tool; undefined if there is none. */
  agentOf: (tool: string) => string | undefined;
}

/** Other agents' tools count too, because a page may not know the agent of an old conversation. */
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

export function titleOfAgent(cards: readonly AgentCard[], agent: string): string {
  return cards.find(({ name }) => name === agent)?.title ?? toWords(agent);
}
