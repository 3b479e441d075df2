import { Client, type ClientOptions, type ConnectionLike } from '@temporalio/client';
import { AgentRegistry, type AgentDefinition } from '../agents/index.js';
import { ConfigurationError } from '../protocol/errors.js';
import type { RunMeter } from '../protocol/telemetry.js';
import { DEFAULT_TASK_QUEUE } from '../protocol/temporal.js';
import { joinStores } from '../store/contract/shared-data.js';
import type { Times } from '../protocol/limits.js';
import type { Store } from '../store/contract/store.js';
import type { StreamManager } from '../store/log/stream-manager.js';
import { hasCodec, lastOfEach, withCodecs, type RunsExtension } from './extension.js';
import { createExecutor, type AgentExecutor } from './executor.js';
import { lastPoll, POLL_MS, createWorkerList } from './workers.js';
import { withinDeadline } from './temporal-calls.js';
import { createTemporalRuns } from './temporal-runs.js';

/** Runs agents on Temporal. Runs also begin while Temporal is away; workers start them later. */
export type TemporalAgentExecutor = AgentExecutor;

export type ExecutorOptions = ExecutorSettings & (OwnClient | ReadyClient);

interface OwnClient {
  connection: ConnectionLike;
  /** Default `default`. */
  namespace?: string;
  /** Same as for Temporal's `Client`; the workers need the same converter. */
  dataConverter?: ClientOptions['dataConverter'];
  interceptors?: ClientOptions['interceptors'];
  client?: undefined;
}

interface ReadyClient {
  /** The program's own client, with its connection, namespace, converter and interceptors. */
  client: Client & { connection: ConnectionLike };
  connection?: undefined;
  namespace?: undefined;
  dataConverter?: undefined;
  interceptors?: undefined;
}

interface ExecutorSettings {
  /** Task queue of the workers. Default `agent-runs`. */
  taskQueue?: string;
  /** The agents by name. This process executes neither models nor tools; workers do. */
  agents: AgentRegistry | readonly AgentDefinition[];
  stores: { store: Store; streamManager: StreamManager };
  /** For operators: the model's name, and the page that shows a conversation. */
  modelName?: string;
  sessionUrl?: (sessionId: string, runId: string) => string;
  /** Optional capabilities; workers need the same. Default: none. */
  extensions?: readonly RunsExtension[] | undefined;
  /** Times after which the runtime acts by itself. Default: `TIMES`. */
  times?: Times;
  /** Counts what this process does to runs, see `RunEvent`. Default: nothing. */
  meter?: RunMeter;
  /** Default: no logging. */
  logger?: { warn: (fields: object, message: string) => void };
}

const SILENT = { warn: () => undefined };

/**
 * Connects agents, stores and Temporal. The caller closes connection and stores, after `runs.idle()`:
 * signals of answers may still be on their way, and without them a run continues seconds later.
 *
 * @example
 * import { Connection } from '@temporalio/client';
 * import { defineAgent } from 'helix-temporal';
 * import { createAgentExecutor } from 'helix-temporal/executor';
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const executor = await createAgentExecutor({
 *   connection: await Connection.connect(),
 *   agents: [
 *     defineAgent({ name: 'guide', systemPrompt: 'Be brief.', llmConfig: { model: 'openai/gpt-5' } }),
 *   ],
 *   stores: createRedisStores({ url: 'redis://localhost:6379' }),
 * });
 * const handle = await executor.execute('guide', 'What is there to see in Rome?');
 * const result = await handle.result();
 */
export async function createAgentExecutor(
  options: ExecutorOptions,
): Promise<TemporalAgentExecutor> {
  const { taskQueue = DEFAULT_TASK_QUEUE, stores, logger = SILENT } = options;
  const extensions = lastOfEach(options.extensions);
  joinStores(stores);
  const agents =
    options.agents instanceof AgentRegistry ? options.agents : new AgentRegistry(options.agents);
  const client = options.client ?? newClient({ ...options, extensions });
  const isEncoded = hasCodec(client.options.loadedDataConverter);
  if (options.client !== undefined && hasCodec(withCodecs(undefined, extensions)) && !isEncoded) {
    throw new ConfigurationError('The client needs the codec of the extension as well.');
  }
  const { namespace } = client.options;
  const { modelName, sessionUrl, meter, times } = options;
  const deps = { ...stores, extensions, agents, modelName, sessionUrl, meter, times, logger };
  const { runs } = await createTemporalRuns(client, taskQueue, deps);
  const checks = createTemporalChecks(client, namespace, taskQueue);
  const { leases } = stores.store;
  const readWorkers = createWorkerList({ client, taskQueue, leases });
  return createExecutor({ runs, agents, namespace, checks, readWorkers, ...stores });
}

function newClient({ extensions, ...options }: ExecutorSettings & OwnClient): Client {
  const { connection, namespace, interceptors } = options;
  const dataConverter = withCodecs(options.dataConverter, extensions);
  return new Client({ connection, namespace, dataConverter, interceptors });
}

function createTemporalChecks(
  client: Client,
  namespace: string,
  taskQueue: string,
): { temporal: () => Promise<void>; worker: () => Promise<void> } {
  const { connection, workflowService } = client;
  let newest: number | undefined;
  let movedAt = -Infinity;
  return {
    temporal: async () => {
      await withinDeadline(connection, () => workflowService.getSystemInfo({}));
    },
    worker: async () => {
      const { pollers } = await withinDeadline(connection, () =>
        workflowService.describeTaskQueue({ namespace, taskQueue: { name: taskQueue } }),
      );
      const polledAt = lastPoll(pollers);
      // A poll since the last check is recent, even if this machine's clock is ahead of Temporal's.
      if (newest !== undefined && polledAt > newest) movedAt = performance.now();
      newest = polledAt;
      const isRecent = polledAt >= Date.now() - POLL_MS || performance.now() - movedAt < POLL_MS;
      if (!isRecent) throw new Error('no worker polls the task queue');
    },
  };
}
