import { z } from 'zod';
import type { AgentDefinition, ToolDefinition, ToolHost, ToolSource } from '../agents/index.js';
import { rootOf } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import { retryDelay } from '../protocol/time.js';
import type { SessionRecord, Sessions } from '../store/contract/sessions.js';
import { type Attempt, AttemptFailure } from './attempt.js';
import type { ActivityDeps } from './deps.js';

export interface AgentRef {
  agent: string;
  sessionId: string;
  runId: string;
}

/** The agents of runs, with the tools that their sources offer to one run. */
export interface RunAgents {
  /** The definition of a run's agent; undefined if this worker does not know it. */
  find: (ref: AgentRef) => Promise<AgentDefinition | undefined>;
  findOwner: FindOwner;
  /**
   * The agent with the tools of its sources, which are asked unless this run has its lists already.
   * `undefined` if the run is not active.
   *
   * @throws ToolError if a source cannot be used; what the signal gives
   */
  chooseTools: (
    agent: AgentDefinition,
    ref: AgentRef,
    signal: AbortSignal,
  ) => Promise<AgentDefinition | undefined>;
  /** A run's agent with what the run has chosen; without anything for a run that is not active. */
  withChosenTools: (ref: AgentRef) => Promise<AgentDefinition | undefined>;
}

/** Runs whose agents are remembered. */
const MOST_RUNS = 1_000;
/** Lists of one agent that are remembered; as a rule all runs have the same. */
const MOST_LISTS = 8;

/** What a run keeps: the lists of its sources, by their names. */
const Lists = z.record(z.string(), z.unknown());

export function createRunAgents(
  deps: Pick<ActivityDeps, 'agents' | 'store' | 'logger' | 'toolHost'>,
): RunAgents {
  const { agents, store, toolHost: host = createToolHost(deps.logger) } = deps;
  const findOwner = createOwnerLookup(store.sessions);
  const byRun = new Map<string, AgentDefinition>();
  const byList = new WeakMap<AgentDefinition, Map<string, AgentDefinition>>();

  /** The owner is read only where a factory may ask for it. */
  async function find({ agent, sessionId, runId }: AgentRef): Promise<AgentDefinition | undefined> {
    const owner = agents.isMade(agent) ? await findOwner({ sessionId, runId }) : undefined;
    const whose = { userId: owner?.owner, tenantId: owner?.tenant };
    return agents.get(agent, { sessionId, runId, ...whose });
  }

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

  async function chosen(agent: AgentDefinition, ref: AgentRef): Promise<typeof agent | undefined> {
    const { sessionId, runId } = ref;
    if (sourcesOf(agent).length === 0) return agent;
    const known = byRun.get(runId);
    if (known !== undefined) return known;
    const read = await store.runs.pinTools({ sessionId, runId });
    return read.kind === 'pinned' ? equip(agent, ref, read.tools) : undefined;
  }

  return {
    find,
    findOwner,
    withChosenTools: async (ref) => {
      const agent = await find(ref);
      return agent && ((await chosen(agent, ref)) ?? agent);
    },
    chooseTools: async (agent, ref, signal) => {
      const found = await chosen(agent, ref);
      if (found !== undefined) return found;
      const taken = new Set(agent.tools.map(({ name }) => name));
      const list = async (source: ToolSource) =>
        [source.name, await source.list(taken, host, signal)] as const;
      const tools = Object.fromEntries(await Promise.all(sourcesOf(agent).map(list)));
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

/** The cache holds the owners of this many runs. */
const MOST_OWNERS = 5_000;

/**
 * Finds the owner of a run's conversation; undefined if it was erased. Cached by run: the id of an
 * erased session may be reused by another user.
 */
export type FindOwner = (run: {
  sessionId: string;
  runId: string;
}) => Promise<Pick<SessionRecord, 'owner' | 'tenant'> | undefined>;

export function createOwnerLookup(sessions: Pick<Sessions, 'read'>): FindOwner {
  const known = new Map<string, Pick<SessionRecord, 'owner' | 'tenant'>>();
  return async ({ sessionId, runId }) => {
    const found = known.get(runId);
    if (found !== undefined) return found;
    const record = await sessions.read(rootOf(sessionId));
    if (record === undefined) return undefined;
    const { owner, tenant } = record;
    const stored = { owner, tenant };
    keep(known, runId, stored, MOST_OWNERS);
    return stored;
  };
}

const RETRY = { firstMs: 500, mostMs: 5_000 };

/**
 * For a worker that does not know the agent, or the tool: during a deploy another one does. Called
 * before the record gives permission, so that nothing counts as begun.
 *
 * @throws AttemptFailure `unknown_agent`, retryable, until no worker has known it for ten minutes
 */
export function leaveToNewerWorker(attempt: Attempt, what: string): void {
  if (attempt.ageMs() >= LIMITS.unknownAgentMs) return;
  throw new AttemptFailure(`This worker does not know ${what}.`, {
    type: 'unknown_agent',
    afterMs: retryDelay({ attempt: attempt.number, ...RETRY }),
  });
}
