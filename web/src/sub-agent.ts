const PREFIX = 'subagent__';

/** Tools of the demo agents that another agent carries out, and what that agent is called. */
const SUB_AGENTS: Readonly<Record<string, string>> = {
  research: 'Researcher',
  delegate: 'Lab child',
  report: 'Lab report',
};

/** Who carries a tool's calls out; undefined if it is no other agent. */
export function subAgentOf(tool: string): string | undefined {
  return tool.startsWith(PREFIX) ? tool.slice(PREFIX.length) : SUB_AGENTS[tool];
}
