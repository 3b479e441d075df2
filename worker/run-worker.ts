import { NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import type { AgentRegistry } from '../agents/index.js';
import { consoleUrlOf } from '../config/console-url.js';
import type { Config } from '../config/env.js';
import type { Logger } from '../config/logger.js';
import { explainTemporal, inNamespace } from '../runs/explain-temporal.js';
import { untilReachable, withoutSecrets } from '../config/startup.js';
import type { TemporalSettings } from '../config/temporal.js';
import type { AgentPluginOptions } from './agent-plugin.js';
import { createAgentWorker } from './create-worker.js';
import type { WorkerMetrics } from './extension.js';

/** What a worker's process has begun before this is loaded. */
export interface WorkerProcess {
  config: Config;
  temporal: TemporalSettings;
  logger: Logger;
  redis: AgentPluginOptions['stores'] & {
    ping: () => Promise<void>;
    settings: () => Promise<{ warnings: string[] }>;
    close: () => Promise<void>;
  };
  /** Why this Redis, at an address as it is shown, cannot be used; undefined if it can. */
  explainRedis: (address: string) => Promise<string | undefined>;
  extensions: AgentPluginOptions['extensions'];
  agents: AgentRegistry;
  /** Ids of the keys that encrypt what Temporal stores. */
  keyIds: string[];
  metrics: WorkerMetrics;
  /** Called once the worker takes work. */
  onReady: () => void;
  /** Called if it fails, while the store is open: the worker may never have run. */
  onFailed: () => Promise<void> | undefined;
}

/** Runs the worker of this process until it is asked to end. */
export async function runWorker(begun: WorkerProcess): Promise<void> {
  const { config, temporal, logger, redis, extensions, agents, keyIds, metrics, onReady } = begun;
  Runtime.install(metrics.runtime);

  const redisAddress = withoutSecrets(config.REDIS_URL);
  await untilReachable(`Redis at ${redisAddress}`, redis.ping, () =>
    begun.explainRedis(redisAddress),
  );
  for (const warning of (await redis.settings()).warnings) logger.warn(warning);
  // It can be reached; a right may be missing.
  void begun.explainRedis(redisAddress).then((fault) => {
    if (fault !== undefined) logger.warn({}, fault);
  });
  const { namespace } = temporal;
  const { TASK_QUEUE: taskQueue } = config;
  const explain = () => explainTemporal({ ...temporal, taskQueue, keyIds, isWorker: true });
  const connection = await untilReachable(
    `Temporal at ${temporal.address}`,
    async () => inNamespace(await NativeConnection.connect(temporal.connection), namespace),
    async () => (await explain()).fault,
  );
  void explain().then(({ warning }) => {
    if (warning !== undefined) logger.warn({}, warning);
  });

  let worker: Worker | undefined;
  let server: Awaited<ReturnType<NonNullable<WorkerMetrics['serve']>>> | undefined;
  try {
    // Before the worker, which would keep the connection from being closed if the port is taken.
    server = await metrics.serve?.({
      redis: redis.ping,
      temporal: async () => {
        await connection.workflowService.getSystemInfo({});
      },
      worker: () =>
        worker?.getState() === 'RUNNING'
          ? Promise.resolve()
          : Promise.reject(new Error('does not run')),
    });
    const publicUrl = config.PUBLIC_URL;
    const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = config;
    worker = await createAgentWorker({
      connection,
      namespace,
      taskQueue,
      agents,
      stores: redis,
      startWithinMs: config.START_WITHIN * 1000,
      modelSlots: config.MODEL_SLOTS,
      cachedRuns: config.CACHED_RUNS,
      toolSlots: { total: config.TOOL_SLOTS, perUser: config.TOOLS_PER_USER },
      extensions,
      fileHosts: config.FILE_HOSTS,
      ...(deploymentName !== undefined &&
        buildId !== undefined && { versioning: { deploymentName, buildId } }),
      ...(metrics.meter && { meter: metrics.meter() }),
      meterTenants: config.METRICS_TENANTS,
      modelName: config.MODEL,
      publicUrl,
      sessionUrl: consoleUrlOf(publicUrl),
      logger,
    });
    logger.info(
      {
        taskQueue,
        metricsPort: server?.port,
        agents: agents.getRegisteredTypes(),
      },
      'worker runs',
    );
    // Resolves after SIGINT or SIGTERM, which Temporal's runtime handles.
    const running = worker.run();
    onReady();
    await running;
  } catch (error) {
    await begun.onFailed();
    throw error;
  } finally {
    await server?.close();
    await redis.close();
    await connection.close();
  }
}
