import { NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import type { AgentRegistry } from '../agents/index.js';
import { consoleUrlOf, type Config } from '../config/env.js';
import type { Logger } from '../config/logger.js';
import { endOnRepeat, untilReachable, withoutSecrets } from '../config/startup.js';
import type { TemporalSettings } from '../config/temporal.js';
import { readPayloadKeys } from '../extensions/codec/settings.js';
import { explainTemporal, inNamespace } from '../extensions/doctor/index.js';
import { allExtensions, limitsOfSettings, type Extension } from '../extensions/index.js';
import type { BegunLease } from '../extensions/leases/index.js';
import { startWorkerMetrics, type WorkerMetrics } from '../extensions/metrics/worker-process.js';
import { readNotify } from '../extensions/notify/settings.js';
import { loadExtensions } from '../extensions/own-files/index.js';
import type { RedisStores } from '../store/redis/index.js';
import { explainRedis, warnOfRedis } from '../store/redis/inspect-redis.js';
import { createAgentWorker, type AgentWorkerOptions } from './create-worker.js';
import { limitNewThreads } from './worker-settings.js';

export interface WorkerProcess {
  config: Config;
  temporal: TemporalSettings;
  logger: Logger;
  tracing: Extension | undefined;
  redis: RedisStores;
  lease: BegunLease | undefined;
  agents: AgentRegistry;
  /** Called once the worker takes work. */
  onReady: () => void;
}

/** @throws Error unless the worker takes work: before it has started, and while it leaves */
export function requireRunning(worker: Pick<Worker, 'getState'> | undefined): void {
  if (worker?.getState() !== 'RUNNING') throw new Error('does not run');
}

/**
 * Runs a worker until a signal ends it. An unhandled error, such as one in a tool's timer, ends it in
 * the same way, so that other calls are finished or handed over.
 *
 * @throws that error, once the worker has ended
 */
export async function runUntilFault(
  worker: Pick<Worker, 'run' | 'getState' | 'shutdown'>,
  { proc, logger }: { proc: Pick<NodeJS.Process, 'on' | 'exit'>; logger: Logger },
): Promise<void> {
  let fault: { error: unknown } | undefined;
  const end = (error: unknown): void => {
    // A timer may repeat it while the worker ends.
    if (fault !== undefined) return;
    // A worker that does not run yet cannot be shut down; Node ends its process.
    if (worker.getState() === 'INITIALIZED') throw error;
    fault = { error };
    logger.error({ err: error }, 'the worker ends after an unhandled error');
    if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  // Temporal's runtime handles the first signal only.
  endOnRepeat(proc);
  proc.on('uncaughtException', end);
  proc.on('unhandledRejection', end);
  await worker.run();
  if (fault !== undefined) throw fault.error;
}

/** Returns the settings of the worker that the environment gives. */
export function settingsOf(
  config: Config,
): Omit<AgentWorkerOptions, 'connection' | 'agents' | 'stores'> {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = config;
  return {
    taskQueue: config.TASK_QUEUE,
    startWithinMs: config.START_WITHIN * 1000,
    times: config.HELIX_TIMES,
    modelSlots: config.MODEL_SLOTS,
    cachedRuns: config.CACHED_RUNS,
    toolSlots: { total: config.TOOL_SLOTS, perUser: config.TOOLS_PER_USER },
    fileHosts: config.FILE_HOSTS,
    ...(deploymentName !== undefined &&
      buildId !== undefined && { versioning: { deploymentName, buildId } }),
    meterTenants: config.METRICS_TENANTS,
    modelName: config.MODEL,
    publicUrl: config.PUBLIC_URL,
    sessionUrl: consoleUrlOf(config.PUBLIC_URL),
  };
}

export async function runWorker(begun: WorkerProcess): Promise<void> {
  const { config, temporal, logger, tracing, redis, lease, agents, onReady } = begun;
  const keys = readPayloadKeys(config.TEMPORAL_CODEC_KEYS);
  const extensions = [
    ...allExtensions({
      limits: limitsOfSettings(config),
      notify: readNotify(config),
      codec: keys,
      leases: lease,
      tracing,
    }),
    ...(await loadExtensions<Extension>(config.EXTENSIONS)),
  ];
  const metrics = await startWorkerMetrics(config, logger);
  Runtime.install(metrics.runtime);

  const redisAddress = withoutSecrets(config.REDIS_URL);
  const { serverMs } = config.HELIX_TIMES;
  await untilReachable(
    `Redis at ${redisAddress}`,
    redis.ping,
    (withinMs) => explainRedis(config.REDIS_URL, redisAddress, withinMs),
    serverMs,
  );
  void warnOfRedis(redis.settings, logger);
  const { namespace } = temporal;
  const { TASK_QUEUE: taskQueue } = config;
  const keyIds = (keys ?? []).map(({ id }) => id);
  const explain = (withinMs?: number) =>
    explainTemporal({ ...temporal, taskQueue, keyIds, isWorker: true, withinMs });
  const connection = await untilReachable(
    `Temporal at ${temporal.address}`,
    async () => inNamespace(await NativeConnection.connect(temporal.connection), namespace),
    async (withinMs) => (await explain(withinMs)).fault,
    serverMs,
  );
  void explain().then(({ warning }) => {
    if (warning !== undefined) logger.warn({}, warning);
  });

  let worker: Worker | undefined;
  let server: Awaited<ReturnType<NonNullable<WorkerMetrics['serve']>>> | undefined;
  try {
    // The server starts first: if its port is taken, a worker would keep the connection open.
    server = await metrics.serve?.({
      redis: redis.ping,
      temporal: async () => {
        await connection.workflowService.getSystemInfo({});
      },
      worker: async () => {
        requireRunning(worker);
      },
    });
    limitNewThreads();
    worker = await createAgentWorker({
      connection,
      namespace,
      agents,
      stores: redis,
      extensions,
      ...settingsOf(config),
      ...(metrics.meter && { meter: metrics.meter() }),
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
    const running = runUntilFault(worker, { proc: process, logger });
    onReady();
    await running;
  } catch (error) {
    // The lease closes while the store is open; the worker may never have run.
    await lease?.lease.close();
    throw error;
  } finally {
    await server?.close();
    await redis.close();
    await connection.close();
  }
}
