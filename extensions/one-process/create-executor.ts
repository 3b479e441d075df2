import { createRunParts } from '../../activities/run-parts.js';
import { createToolHost } from '../../activities/run-agent.js';
import type { ActivityLogger } from '../../activities/deps.js';
import type { ActivityExtension } from '../../activities/extension.js';
import { AgentRegistry, type AgentDefinition } from '../../agents/index.js';
import { createRuns } from '../../runs/create-runs.js';
import { lastOfEach, type RunsExtension } from '../../runs/extension.js';
import { createExecutorOf, type AgentExecutor } from '../../runs/executor-of.js';
import type { Runs } from '../../runs/runs.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import { sessionOfRun } from '../../protocol/ids.js';
import { isTerminal } from '../../protocol/run.js';
import { joinStores } from '../../store/contract/shared-data.js';
import type { Store } from '../../store/contract/store.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { systemClock, type Clock } from './clock.js';
import { createLocalRuns } from './local-runs.js';
import { createUpkeep } from './upkeep.js';

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
   * uncommitted step. Call it once when the process starts.
   *
   * @returns number of runs carried on
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
    parts: () =>
      createRunParts({
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
    searchAttributes: false,
  });
  const upkeep = createUpkeep({ store, runs, local, logger });

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

  return {
    ...createExecutorOf({ ...stores, runs, agents, namespace: local.namespace }),
    recover: () => upkeep.recover(revive),
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
      upkeep.stop();
      await local.leave();
      await toolHost.close();
      await runs.idle();
    },
  };
}
