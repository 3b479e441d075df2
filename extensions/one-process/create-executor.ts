import { randomUUID } from 'node:crypto';
import { createRunOperations } from '../../activities/run-operations.js';
import { createToolHost } from '../../activities/run-agent.js';
import type { ActivityLogger } from '../../activities/deps.js';
import type { ActivityExtension } from '../../activities/extension.js';
import { AgentNotFoundError, AgentRegistry, type AgentDefinition } from '../../agents/index.js';
import { createRelease } from '../../runs/agent-pauses.js';
import { createRuns } from '../../runs/create-runs.js';
import { lastOfEach, type RunsExtension } from '../../runs/extension.js';
import { createExecutor, type AgentExecutor } from '../../runs/executor.js';
import type { Runs } from '../../runs/runs.js';
import { createSweep } from '../../runs/sweep.js';
import { hasCode, HelixError } from '../../protocol/errors.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import { sessionOfRun } from '../../protocol/ids.js';
import { isTerminal, type RunError } from '../../protocol/run.js';
import { DUE_SHARDS } from '../../store/contract/due.js';
import { joinStores } from '../../store/contract/shared-data.js';
import type { Store } from '../../store/contract/store.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { systemClock, type Clock } from './clock.js';
import { createLocalRuns } from './local-runs.js';

export interface InProcessOptions {
  /** Agents whose models and tools this process executes. */
  agents?: AgentRegistry | readonly AgentDefinition[];
  /** `createMemoryStores()`, or `createRedisStores(…)` whose data outlive the process. */
  stores: { store: Store; streamManager: StreamManager };
  /** Passed to tools as `context.services`. */
  services?: Readonly<Record<string, unknown>>;
  /**
   * Name of this program in a store that several programs share. One process at a time may carry out the
   * runs of a name. Default: `default`.
   */
  name?: string;
  /** Hosts from which this process fetches files for models that do not fetch themselves. Default: none. */
  fileHosts?: readonly string[];
  /** Optional capabilities. Default: none. */
  extensions?: readonly (RunsExtension & ActivityExtension)[] | undefined;
  /** Counts events of runs. Default: no counting. */
  meter?: RunMeter;
  /** Clock of deadlines and retries. Default: the system's. */
  clock?: Clock;
  /** Default: no logging. */
  logger?: ActivityLogger;
}

/** Runs agents in this process. If the process dies, its runs wait for `recover`. */
export interface InProcessExecutor extends AgentExecutor {
  /**
   * Carries on the runs that an earlier process of the same name left in the store, each from its first
   * uncommitted step. Call it once when the process starts. A run with an unknown agent is ended.
   *
   * @returns number of runs carried on
   * @throws HelixError `unavailable` while the store is away
   */
  recover: () => Promise<number>;
  /** Registers an agent like the option `agents`. `handleChatStream` calls it with its `agent`. */
  learn: (agent: { readonly name: string }) => void;
  /** Resolves when no run is active or waiting. */
  idle: () => Promise<void>;
  /**
   * Leaves unfinished runs in the store for `recover` and disconnects from tool servers. The caller closes
   * the stores.
   */
  close: () => Promise<void>;
}

const SWEEP_EVERY_MS = 1_000;
/** Sessions per read of the due list. */
const PAGE = 100;
const AGENT_UNKNOWN: RunError = {
  code: 'agent_not_found',
  message: "This conversation's agent is not available.",
  retryable: false,
};
const SILENT: ActivityLogger = { info: () => undefined, warn: () => undefined };

/**
 * Creates an executor that runs agents in this process over any store, without Temporal: for tests, for
 * programs of one process, and for evaluation. Approvals, client tools, stops, queues, retries,
 * sub-agents and deadlines work as with Temporal, but no other process takes over when this one dies.
 *
 * @example
 * import { defineAgent } from 'helix-temporal';
 * import { createInProcessExecutor } from 'helix-temporal/runtime-js';
 * import { createMemoryStores } from 'helix-temporal/store-memory';
 *
 * const guide = defineAgent({
 *   name: 'guide',
 *   systemPrompt: 'Be brief.',
 *   llmConfig: { model: 'openai/gpt-5' },
 * });
 * const executor = createInProcessExecutor({ agents: [guide], stores: createMemoryStores() });
 * const handle = await executor.execute('guide', 'What is there to see in Rome?');
 * const result = await handle.result();
 */
export function createInProcessExecutor(options: InProcessOptions): InProcessExecutor {
  const { stores, services = {}, name = 'default', clock = systemClock, logger = SILENT } = options;
  joinStores(stores);
  const agents =
    options.agents instanceof AgentRegistry ? options.agents : new AgentRegistry(options.agents);
  const { meter, fileHosts } = options;
  const extensions = lastOfEach(options.extensions);
  const toolHost = createToolHost(logger);
  const local = createLocalRuns({
    name,
    clock,
    logger,
    revive: async (sessionId) => {
      await revive(sessionId);
    },
    isBegun: async (runId) => {
      const record = await store.sessions.read(sessionOfRun(runId));
      return record?.runId === runId && record.status !== 'starting';
    },
    operations: () =>
      createRunOperations({
        store,
        agents,
        services,
        meter,
        logger,
        toolHost,
        fileHosts,
        extensions,
        streamManager: stores.streamManager,
        startNext: runs.startNext,
        others: runs.listeners,
        uploads: runs.uploads,
        wake: ({ runId }) => runs.wake(runId),
        workflowState: local.state,
      }),
  });
  // Leases serve workers that take over each other's attempts; one process has no use for them.
  const store: Store = {
    ...stores.store,
    due: stores.store.due.of(local.fleet),
    leases: undefined,
  };
  const runs: Runs = createRuns({
    streamManager: stores.streamManager,
    store: { ...stores.store, leases: undefined },
    workflows: local,
    carriesOut: true,
    extensions,
    agents,
    meter,
    logger,
  });
  const closing = new AbortController();
  const holder = randomUUID();
  const sweep = createSweep({ store, runs, holder, logger });
  const { startRun } = runs;
  const pauses = store.pauses.of(local.fleet);
  const release = createRelease({ pauses, store, startRun, holder, logger });
  let isSweeping = false;
  /**
   * Removes ended sessions from the due list, completes erasures, and starts runs whose paused agents
   * were resumed. The timer does not keep the process alive.
   */
  const timer = setInterval(() => {
    if (isSweeping) return;
    isSweeping = true;
    Promise.all([sweep(), release()])
      .catch((error: unknown) => logger.warn({ err: error, fleet: local.fleet }, 'sweep failed'))
      .finally(() => {
        isSweeping = false;
      });
  }, SWEEP_EVERY_MS).unref();

  /** Returns true if the session has a run that is active or waiting. */
  async function revive(sessionId: string): Promise<boolean> {
    const record = await store.sessions.read(sessionId);
    if (record === undefined || isTerminal(record.status)) return false;
    if (local.has(record.runId)) return true;
    // The run starts when its paused agent is resumed.
    if (await runs.pauses.isHeld(record)) return true;
    await runs.startRun(record);
    return true;
  }

  async function recover(): Promise<number> {
    let found = 0;
    for (const sessionId of await listAll(store.due)) {
      try {
        if (await revive(sessionId)) found += 1;
      } catch (error) {
        if (hasCode(error, 'unavailable')) throw error;
        // One failing run must not prevent the recovery of the others; it stays in the record.
        logger.warn({ err: error, sessionId }, 'a run could not be carried on');
        if (!(error instanceof AgentNotFoundError)) continue;
        const record = await store.sessions.read(sessionId);
        if (record !== undefined && !isTerminal(record.status)) {
          await runs.endLost(record, AGENT_UNKNOWN);
        }
      }
    }
    return found;
  }

  return {
    ...createExecutor({
      ...stores,
      runs,
      agents,
      namespace: local.namespace,
      closed: closing.signal,
    }),
    recover,
    learn: (agent) => {
      if (!agents.has(agent.name)) agents.register(agent as AgentDefinition);
    },
    idle: async () => {
      // The end of a run may begin a queued one.
      do {
        await local.idle();
        await runs.idle();
      } while (!local.isIdle());
    },
    close: async () => {
      clearInterval(timer);
      await local.leave();
      closing.abort(new HelixError('unavailable', 'The executor is closed.'));
      await toolHost.close();
      await runs.idle();
    },
  };
}

/** Reads all due sessions up front, because reviving one moves sessions between the shards' lists. */
async function listAll(due: Store['due']): Promise<ReadonlySet<string>> {
  const all = new Set<string>();
  for (let shard = 0; shard < DUE_SHARDS; shard += 1) {
    for (const list of ['urgent', 'routine'] as const) {
      for (let from = 0; ; from += PAGE) {
        const page = await due.listed(list, shard, from, PAGE);
        for (const sessionId of page) all.add(sessionId);
        if (page.length < PAGE) break;
      }
    }
  }
  return all;
}

/** The in-process executor under its name in the Helix packages. */
export type JSAgentExecutor = InProcessExecutor;

/**
 * Creates the same executor as `createInProcessExecutor`, with the arguments of the Helix packages. The
 * third argument, an LLM adapter, has no effect: agents name models of the AI SDK. Agents passed to
 * `execute` or `handleChatStream` are registered then; `recover` needs them in `options.agents`.
 */
export const JSAgentExecutor = class JSAgentExecutor {
  constructor(
    store: Store,
    streamManager: StreamManager,
    _adapter?: unknown,
    options?: Omit<InProcessOptions, 'stores'>,
  ) {
    Object.assign(this, createInProcessExecutor({ ...options, stores: { store, streamManager } }));
  }
} as unknown as new (
  store: Store,
  streamManager: StreamManager,
  adapter?: unknown,
  options?: Omit<InProcessOptions, 'stores'>,
) => JSAgentExecutor;
