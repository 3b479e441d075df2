import type { AgentDefinition } from '../agents/definitions.js';
import { createMcpConnections } from '../agents/mcp/mcp-connections.js';
import { hasServers, listMcpTools, withMcpTools } from '../agents/mcp/mcp-tools.js';
import { parsePinnedTools } from '../agents/mcp/pinned-tools.js';
import type { ActivityDeps } from './deps.js';
import type { AgentRef } from './run-agent.js';

/** An agent with the tools that servers offer to one run of it. */
export interface RunTools {
  /**
   * Asks the servers, unless this run has its list already. `undefined` if the run is not active.
   *
   * @throws McpError if a server cannot be used; what the signal gives
   */
  choose: (
    agent: AgentDefinition,
    ref: AgentRef,
    signal: AbortSignal,
  ) => Promise<AgentDefinition | undefined>;
  /** The agent with what the run has chosen; without anything for a run that is not active. */
  chosen: (agent: AgentDefinition, ref: AgentRef) => Promise<AgentDefinition>;
}

/** Runs whose agents are remembered. */
const MOST_RUNS = 1_000;
/** Lists of one agent that are remembered; as a rule all runs have the same. */
const MOST_LISTS = 8;

export function createRunTools(deps: Pick<ActivityDeps, 'store' | 'logger' | 'mcp'>): RunTools {
  const { store, logger, mcp = createMcpConnections(logger) } = deps;
  const byRun = new Map<string, AgentDefinition>();
  const byList = new WeakMap<AgentDefinition, Map<string, AgentDefinition>>();

  /** The same definition for the same list: what is made of a definition is made once. */
  function equip(agent: AgentDefinition, { runId }: AgentRef, tools: unknown): AgentDefinition {
    if (!hasServers(agent)) return agent;
    const text = JSON.stringify(tools);
    const lists = byList.get(agent) ?? new Map<string, AgentDefinition>();
    byList.set(agent, lists);
    const equipped = lists.get(text) ?? withMcpTools(agent, parsePinnedTools(tools), mcp);
    keep(lists, text, equipped, MOST_LISTS);
    keep(byRun, runId, equipped, MOST_RUNS);
    return equipped;
  }

  async function find(agent: AgentDefinition, ref: AgentRef): Promise<AgentDefinition | undefined> {
    const { sessionId, runId } = ref;
    const known = byRun.get(runId);
    if (known !== undefined) return known;
    const read = await store.runs.pinTools({ sessionId, runId });
    return read.kind === 'pinned' ? equip(agent, ref, read.tools) : undefined;
  }

  return {
    chosen: async (agent, ref) => (hasServers(agent) ? ((await find(agent, ref)) ?? agent) : agent),
    choose: async (agent, ref, signal) => {
      if (!hasServers(agent)) return agent;
      const found = await find(agent, ref);
      if (found !== undefined) return found;
      const tools = await listMcpTools(agent, mcp, logger, signal);
      const { sessionId, runId } = ref;
      const pinned = await store.runs.pinTools({ sessionId, runId, tools });
      return pinned.kind === 'pinned' ? equip(agent, ref, pinned.tools) : undefined;
    },
  };
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  const [oldest] = map.keys();
  if (map.size >= most && oldest !== undefined && !map.has(key)) map.delete(oldest);
  map.set(key, value);
}
