import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { LanguageModel } from 'ai';
import { AgentRegistry, modelFromSpec, type AgentDefinition } from '../agents/index.js';
import type { Config } from '../config/env.js';
import { readPayloadKeys } from '../config/payload-keys.js';
import type { Logger } from '../config/logger.js';
import { isLoopback } from '../config/loopback.js';
import { untilReachable, withoutSecrets } from '../config/startup.js';
import type { TemporalSettings } from '../config/temporal.js';
import type { ReadinessChecks } from '../api/deps.js';
import type { Listening } from '../api/listen.js';
import { createPayloadCodec } from '../executor/payload-codec.js';
import type { AgentPluginOptions } from './agent-plugin.js';
import { createAgentWorker } from './create-worker.js';
import type { BegunLease } from './lease/lease-worker.js';
import { exportAt, freeLoopbackAddress, metricsFrom } from './metrics/exporter.js';

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
  lease: BegunLease | undefined;
  agentsOf: (model: LanguageModel) => AgentDefinition[];
}

/** Runs the worker of this process until it is asked to end. */
export async function runWorker(begun: WorkerProcess): Promise<void> {
  const { config, temporal, logger, redis, lease, agentsOf } = begun;
  const model = await modelFromSpec(config.MODEL, config);
  const admin = config.WORKER_METRICS_PORT;
  const exporter = admin && (await freeLoopbackAddress());
  Runtime.install({
    ...(exporter !== undefined && { telemetryOptions: { metrics: exportAt(exporter) } }),
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      const err: unknown = meta?.['error'];
      logger[level === 'ERROR' ? 'error' : 'warn']({ err, meta }, message);
    }),
  });

  await untilReachable(`Redis at ${withoutSecrets(config.REDIS_URL)}`, redis.ping);
  for (const warning of (await redis.settings()).warnings) logger.warn(warning);
  const payloadKeys = readPayloadKeys(config.TEMPORAL_CODEC_KEYS);
  const connection = await untilReachable(`Temporal at ${temporal.address}`, () =>
    NativeConnection.connect(temporal.connection),
  );

  const agents = new AgentRegistry(agentsOf(model));
  const publicUrl = config.PUBLIC_URL;
  const worker = await createAgentWorker({
    connection,
    namespace: temporal.namespace,
    dataConverter: payloadKeys && { payloadCodecs: [createPayloadCodec(payloadKeys)] },
    taskQueue: config.TASK_QUEUE,
    agents,
    stores: redis,
    startWithinMs: config.START_WITHIN * 1000,
    modelSlots: config.MODEL_SLOTS,
    toolSlots: { total: config.TOOL_SLOTS, perUser: config.TOOLS_PER_USER },
    lease,
    modelName: config.MODEL,
    ...(publicUrl !== undefined && {
      sessionUrl: (sessionId: string) => `${publicUrl}/?session=${sessionId}`,
    }),
    logger,
  });
  const server =
    admin &&
    (await serveMetrics(admin, exporter ?? '', {
      logger,
      checks: {
        redis: redis.ping,
        temporal: async () => {
          await connection.workflowService.getSystemInfo({});
        },
        worker: () =>
          worker.getState() === 'RUNNING' ? Promise.resolve() : Promise.reject(new Error('leaves')),
      },
    }));
  try {
    logger.info(
      {
        taskQueue: config.TASK_QUEUE,
        metricsPort: server?.port,
        agents: agents.getRegisteredTypes(),
      },
      'worker runs',
    );
    // Resolves after SIGINT or SIGTERM, which Temporal's runtime handles.
    await worker.run();
  } finally {
    await server?.close();
    await redis.close();
    await connection.close();
  }
}

/** What Temporal's SDK exports on an address of its own, with the state of this process. */
async function serveMetrics(
  { host, port }: { host: string; port: number },
  exporter: string,
  { checks, logger }: { checks: ReadinessChecks; logger: Logger },
): Promise<Listening> {
  // The code of the API's guards is loaded only where it is needed.
  const [{ createMetricsApp }, { createReadiness }, { listen }] = await Promise.all([
    import('../api/create-metrics-app.js'),
    import('../api/readiness.js'),
    import('../api/listen.js'),
  ]);
  const hostNames = isLoopback(host) ? [] : undefined;
  const readReadiness = createReadiness(checks);
  const app = createMetricsApp(metricsFrom(exporter), logger, { hostNames, readReadiness });
  return listen(app, port, host);
}
