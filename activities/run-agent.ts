import { z } from 'zod';
import type { AgentDefinition, ToolDefinition, ToolHost, ToolSource } from '../agents/index.js';
import { rootOf } from '../protocol/ids.js';
import { LIMITS } from '../protocol/limits.js';
import type { RunRef } from '../protocol/run.js';
import { retryDelay } from '../protocol/time.js';
import type { SessionRecord, Sessions } from '../store/contract/sessions.js';
import { type Attempt, AttemptFailure } from './attempt.js';
import type { ActivityDeps } from './deps.js';

/** Agents of runs, with the tools that their sources offer to one run. */
export interface RunAgents {
  /** Returns the definition of a run's agent; undefined if this worker does not know it. */
  find: (ref: RunRef) => Promise<AgentDefinition | undefined>;
  findOwner: FindOwner;
  /**
   * Returns the agent with the tools of its sources, which are asked unless the run has stored
   * their lists. Returns undefined if the run is not active.
   *
   * @throws ToolError if a source cannot be used; the signal's reason once it fires
   */
  chooseTools: (
    agent: AgentDefinition,
    ref: RunRef,
    signal: AbortSignal,
  ) => Promise<AgentDefinition | undefined>;
  /** Returns a run's agent with the run's chosen tools; without them if the run is not active. */
  withChosenTools: (ref: RunRef) => Promise<AgentDefinition | undefined>;
}

/** Maximum number of runs whose agents are cached. */
const MAX_RUNS = 1_000;
/** Maximum number of cached lists per agent; usually all runs share one. */
const MAX_LISTS = 8;

/** Lists of a run's sources, by name, as the run stores them. */
const Lists = z.record(z.string(), z.unknown());

export function createRunAgents(
  deps: Pick<ActivityDeps, 'agents' | 'store' | 'logger' | 'toolHost'>,
): RunAgents {
  const { agents, store, toolHost: host = createToolHost(deps.logger) } = deps;
  const findOwner = createOwnerLookup(store.sessions);
  const byRun = new Map<string, AgentDefinition>();
  const byList = new WeakMap<AgentDefinition, Map<string, AgentDefinition>>();

  /** Reads the owner only if a factory may ask for it. */
  async function find({ agent, sessionId, runId }: RunRef): Promise<AgentDefinition | undefined> {
    const owner = agents.isMade(agent) ? await findOwner({ sessionId, runId }) : undefined;
    const whose = { userId: owner?.owner, tenantId: owner?.tenant };
    return agents.get(agent, { sessionId, runId, ...whose });
  }

  /** Returns the same definition for the same lists, so that caches by definition work. */
  function equip(agent: AgentDefinition, { runId }: RunRef, kept: unknown): AgentDefinition {
    const text = JSON.stringify(kept);
    const known = byList.get(agent) ?? new Map<string, AgentDefinition>();
    byList.set(agent, known);
    const equipped = known.get(text) ?? withTools(agent, Lists.parse(kept));
    keep(known, text, equipped, MAX_LISTS);
    keep(byRun, runId, equipped, MAX_RUNS);
    return equipped;
  }

  function withTools(agent: AgentDefinition, lists: Record<string, unknown>): AgentDefinition {
    const tools = new Map<string, ToolDefinition>(agent.tools.map((tool) => [tool.name, tool]));
    for (const source of agent.toolSources ?? []) {
      // A release may have added the source later.
      if (!Object.hasOwn(lists, source.name)) continue;
      for (const tool of source.toTools(lists[source.name], host)) {
        if (!tools.has(tool.name)) tools.set(tool.name, tool);
      }
    }
    return Object.freeze({ ...agent, tools: Object.freeze([...tools.values()]) });
  }

  async function chosen(agent: AgentDefinition, ref: RunRef): Promise<typeof agent | undefined> {
    const { sessionId, runId } = ref;
    if ((agent.toolSources ?? []).length === 0) return agent;
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
      const tools = Object.fromEntries(await Promise.all((agent.toolSources ?? []).map(list)));
      const { sessionId, runId } = ref;
      const pinned = await store.runs.pinTools({ sessionId, runId, tools });
      return pinned.kind === 'pinned' ? equip(agent, ref, pinned.tools) : undefined;
    },
  };
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  const [oldest] = map.keys();
  if (map.size >= max && oldest !== undefined && !map.has(key)) map.delete(oldest);
  map.set(key, value);
}

/** Creates the view of a process that sources of tools get. */
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

/** Maximum number of runs whose owners are cached. */
const MAX_OWNERS = 5_000;

type Owner = Pick<SessionRecord, 'owner' | 'tenant'>;

/**
 * Finds the owner of a run's conversation; undefined if it was erased. The cache key is the run,
 * since another user may reuse the id of an erased session.
 */
type FindOwner = (run: Omit<RunRef, 'agent'>) => Promise<Owner | undefined>;

export function createOwnerLookup(sessions: Pick<Sessions, 'read'>): FindOwner {
  const known = new Map<string, Owner>();
  return async ({ sessionId, runId }) => {
    const found = known.get(runId);
    if (found !== undefined) return found;
    const record = await sessions.read(rootOf(sessionId));
    if (record === undefined) return undefined;
    const { owner, tenant } = record;
    keep(known, runId, { owner, tenant }, MAX_OWNERS);
    return { owner, tenant };
  };
}

const RETRY = { firstMs: 500, mostMs: 5_000 };

/**
 * Leaves a call to a newer worker, which knows the agent or tool during a deploy. Must run before
 * the record gives permission, so that nothing counts as begun.
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
