import { createRunParts } from '../../activities/run-parts.js';
import { createToolHost } from '../../activities/run-tools.js';
import type { ActivityLogger } from '../../activities/deps.js';
import { AgentRegistry, type AgentDefinition } from '../../agents/index.js';
import { createRuns } from '../../runs/create-runs.js';
import { lastOfEach, tracerOf, type RunsExtension } from '../../runs/extension.js';
import { createExecutorOf, type AgentExecutor } from '../../runs/executor-of.js';
import type { Runs } from '../../runs/runs.js';
import type { RunMeter } from '../../protocol/telemetry.js';
import { sessionOfRun } from '../../protocol/ids.js';
import { isTerminal } from '../../protocol/run.js';
import { joinParts } from '../../store/contract/shared-data.js';
import type { Store } from '../../store/contract/store.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { systemClock, type Clock } from './clock.js';
import { createLocalRuns } from './local-runs.js';
import { createUpkeep } from './upkeep.js';

export interface InProcessOptions {
  /** The agents by name; their models and tools are executed in this process. */
  agents?: AgentRegistry | readonly AgentDefinition[];
  /** `createMemoryStores()`, or `createRedisStores(…)`, which outlive the process. */
  stores: { store: Store; streamManager: StreamManager };
  /** Passed to tools as `context.services`. */
  services?: Readonly<Record<string, unknown>>;
  /**
   * Names the runs in a store that several programs share. One process at a time carries out the runs
   * of a name. Default: `default`.
   */
  name?: string;
  /** Hosts whose files are fetched for models that do not fetch them, as of the worker. Default: none. */
  fileHosts?: readonly string[];
  /** Optional capabilities. Default: none. */
  extensions?: readonly RunsExtension[] | undefined;
  /** Counts what happens to runs. Default: nothing. */
  meter?: RunMeter;
  /** The clock of deadlines and retries. Default: the machine's. */
  clock?: Clock;
  /** Default: silence. */
  logger?: ActivityLogger;
}

/** Runs agents in this process. When it dies, its runs stand still until `recover`. */
export interface InProcessExecutor extends AgentExecutor {
  /**
   * Carries on the runs that an earlier process of the same name left in the store, each from its first
   * step that is not committed. Call it once, at the start of a process.
   *
   * @returns how many runs there are
   */
  recover: () => Promise<number>;
  /** Makes an agent known, as an option does. `handleChatStream` calls it with its `agent`. */
  learn: (agent: { readonly name: string }) => void;
  /** Resolves when no run is active or waits. */
  idle: () => Promise<void>;
  /**
   * Leaves its runs in the store, where `recover` finds them, and disconnects from servers of tools. The
   * caller closes the stores.
   */
  close: () => Promise<void>;
}

const SILENT: ActivityLogger = { info: () => undefined, warn: () => undefined };

/**
 * Runs agents in this process over any store, without Temporal: for tests, for programs of one process,
 * and for evaluation. Approvals, client tools, stops, queues, retries, sub-agents and deadlines are the
 * same transitions of the record. What differs: no other process takes over when this one dies.
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
  joinParts(stores.store, stores.streamManager);
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
        tracer: tracerOf(extensions),
        streamManager: stores.streamManager,
        startNext: runs.startNext,
        others: runs.listeners,
        uploads: runs.uploads,
        wake: ({ runId }) => runs.wake(runId),
        workflowState: local.state,
      }),
  });
  // Leases are for workers, which take each other's attempts over.
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

  /** True if there is a run that is active or waits. */
  async function revive(sessionId: string): Promise<boolean> {
    const record = await store.sessions.read(sessionId);
    if (record === undefined || isTerminal(record.status)) return false;
    if (local.has(record.runId)) return true;
    // It starts when its agent is resumed.
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
      // The end of a run may begin another one.
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
