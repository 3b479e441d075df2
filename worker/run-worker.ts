import { NativeConnection, Runtime, DefaultLogger, type Worker } from '@temporalio/worker';
import type { AgentRegistry } from '../agents/index.js';
import { createCollectorLines, type CollectorLines } from '../config/collector-lines.js';
import { consoleUrlOf } from '../config/console-url.js';
import type { Config } from '../config/env.js';
import { readMetricsCollector } from '../config/metrics.js';
import type { Logger } from '../config/logger.js';
import { explainTemporal, inNamespace } from '../runs/explain-temporal.js';
import { untilReachable, withoutSecrets } from '../config/startup.js';
import type { TemporalSettings } from '../config/temporal.js';
import type { AgentPluginOptions } from './agent-plugin.js';
import { createAgentWorker } from './create-worker.js';
import { exportMetricsAt, exportMetricsTo, freeLoopbackAddress } from './metrics/exporter.js';
import { withDots } from './metrics/with-dots.js';

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
  /** Serves what the SDK exports at an address, with the state of this process. */
  serveMetrics: (
    at: { host: string; port: number },
    exporter: string,
    checks: Readonly<Record<string, () => Promise<void>>>,
  ) => Promise<{ port: number; close: () => Promise<void> }>;
  /** Called once the worker takes work. */
  onReady: () => void;
  /** Called if it fails, while the store is open: the worker may never have run. */
  onFailed: () => Promise<void> | undefined;
}

/** Runs the worker of this process until it is asked to end. */
export async function runWorker(begun: WorkerProcess): Promise<void> {
  const { config, temporal, logger, redis, extensions, agents, keyIds, serveMetrics, onReady } =
    begun;
  const admin = config.WORKER_METRICS_PORT;
  const exporter = admin && (await freeLoopbackAddress());
  const collector = readMetricsCollector(config);
  const metrics =
    exporter === undefined
      ? collector && exportMetricsTo(collector.url, collector.everyMs)
      : exportMetricsAt(exporter);
  const isSent = exporter === undefined && collector !== undefined;
  Runtime.install({
    telemetryOptions: {
      ...(metrics !== undefined && { metrics }),
      // What the SDK's core says of the collector is otherwise printed as it is.
      ...(isSent && { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } }),
    },
    logger: createSdkLog(
      logger,
      isSent
        ? {
            lines: createCollectorLines(logger, collector),
            quietMs: quietAfter(collector.everyMs),
          }
        : undefined,
    ),
  });

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
  let server: Awaited<ReturnType<WorkerProcess['serveMetrics']>> | undefined;
  try {
    // Before the worker, which would keep the connection from being closed if the port is taken.
    server =
      admin &&
      (await serveMetrics(admin, exporter ?? '', {
        redis: redis.ping,
        temporal: async () => {
          await connection.workflowService.getSystemInfo({});
        },
        worker: () =>
          worker?.getState() === 'RUNNING'
            ? Promise.resolve()
            : Promise.reject(new Error('does not run')),
      }));
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
      ...(collector !== undefined && { meter: withDots(Runtime.instance().metricMeter) }),
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

/** The SDK warns of each worker that executes activities only, as the one for tools does. */
const WITHOUT_WORKFLOWS = 'No workflows registered';

const NOT_EXPORTED = 'OTLP metric export failed';

/** An export that hangs is given up after this long. */
const EXPORT_MS = 10_000;

/** Without a failure for this long, exports arrive. */
const quietAfter = (exportEveryMs: number): number => 2 * exportEveryMs + EXPORT_MS;

/**
 * Warnings and errors of Temporal's SDK as lines of this process's log.
 *
 * @param collector where metrics are sent; the SDK warns at each export that fails, and says nothing of
 * those that arrive
 */
export function createSdkLog(
  logger: Pick<Logger, 'warn' | 'error'>,
  collector?: { lines: CollectorLines; quietMs: number },
): DefaultLogger {
  let backAfter: NodeJS.Timeout | undefined;

  function missed({ lines, quietMs }: NonNullable<typeof collector>, reason: unknown): void {
    lines.away(String(reason));
    clearTimeout(backAfter);
    backAfter = setTimeout(lines.back, quietMs).unref();
  }

  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    if (message.startsWith(WITHOUT_WORKFLOWS)) return;
    const { error: err, ...rest } = (meta ?? {}) as Record<string, unknown>;
    if (collector !== undefined && message.startsWith(NOT_EXPORTED)) {
      missed(collector, err);
      return;
    }
    logger[level === 'ERROR' ? 'error' : 'warn']({ err, meta: rest }, message);
  });
}
