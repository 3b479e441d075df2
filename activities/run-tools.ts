import { z } from 'zod';
import type { AgentDefinition, ToolDefinition, ToolHost, ToolSource } from '../agents/index.js';
import type { ActivityDeps } from './deps.js';
import type { AgentRef } from './run-agent.js';

/** An agent with the tools that its sources offer to one run of it. */
export interface RunTools {
  /**
   * Asks the sources, unless this run has its lists already. `undefined` if the run is not active.
   *
   * @throws ToolError if a source cannot be used; what the signal gives
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

/** What a run keeps: the lists of its sources, by their names. */
const Lists = z.record(z.string(), z.unknown());

export function createRunTools(
  deps: Pick<ActivityDeps, 'store' | 'logger' | 'toolHost'>,
): RunTools {
  const { store, toolHost: host = createToolHost(deps.logger) } = deps;
  const byRun = new Map<string, AgentDefinition>();
  const byList = new WeakMap<AgentDefinition, Map<string, AgentDefinition>>();

  /** The same definition for the same lists: what is made of a definition is made once. */
  function equip(agent: AgentDefinition, { runId }: AgentRef, kept: unknown): AgentDefinition {
    const text = JSON.stringify(kept);
    const known = byList.get(agent) ?? new Map<string, AgentDefinition>();
    byList.set(agent, known);
    const equipped = known.get(text) ?? withTools(agent, Lists.parse(kept));
    keep(known, text, equipped, MOST_LISTS);
    keep(byRun, runId, equipped, MOST_RUNS);
    return equipped;
  }

  function withTools(agent: AgentDefinition, lists: Record<string, unknown>): AgentDefinition {
    const tools = new Map<string, ToolDefinition>(agent.tools.map((tool) => [tool.name, tool]));
    for (const source of sourcesOf(agent)) {
      // A release may have added the source since.
      if (!Object.hasOwn(lists, source.name)) continue;
      for (const tool of source.toTools(lists[source.name], host)) {
        if (!tools.has(tool.name)) tools.set(tool.name, tool);
      }
    }
    return Object.freeze({ ...agent, tools: Object.freeze([...tools.values()]) });
  }

  async function find(agent: AgentDefinition, ref: AgentRef): Promise<AgentDefinition | undefined> {
    const { sessionId, runId } = ref;
    const known = byRun.get(runId);
    if (known !== undefined) return known;
    const read = await store.runs.pinTools({ sessionId, runId });
    return read.kind === 'pinned' ? equip(agent, ref, read.tools) : undefined;
  }

  return {
    chosen: async (agent, ref) =>
      sourcesOf(agent).length > 0 ? ((await find(agent, ref)) ?? agent) : agent,
    choose: async (agent, ref, signal) => {
      const sources = sourcesOf(agent);
      if (sources.length === 0) return agent;
      const found = await find(agent, ref);
      if (found !== undefined) return found;
      const taken = new Set(agent.tools.map(({ name }) => name));
      const list = async (source: ToolSource) =>
        [source.name, await source.list(taken, host, signal)] as const;
      const tools = Object.fromEntries(await Promise.all(sources.map(list)));
      const { sessionId, runId } = ref;
      const pinned = await store.runs.pinTools({ sessionId, runId, tools });
      return pinned.kind === 'pinned' ? equip(agent, ref, pinned.tools) : undefined;
    },
  };
}

function sourcesOf({ toolSources = [] }: AgentDefinition): readonly ToolSource[] {
  return toolSources;
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  const [oldest] = map.keys();
  if (map.size >= most && oldest !== undefined && !map.has(key)) map.delete(oldest);
  map.set(key, value);
}

/** A process as sources of tools see it. */
export function createToolHost(
  logger: ToolHost['logger'],
): ToolHost & { close: () => Promise<void> } {
  const closing: (() => Promise<unknown>)[] = [];
  return {
    logger,
    onClose: (close) => closing.push(close),
    close: async () => {
      await Promise.allSettled(closing.splice(0).map((close) => close()));
    },
  };
}
