import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { AgentRegistry } from '../agents/index.js';
import {
  readAuditTtl,
  consoleUrlOf,
  ConfigError,
  parseEnv,
  withoutBlank,
  type Config,
} from '../config/env.js';
import {
  closeOnSignal,
  endWithParent,
  startProcess,
  untilReachable,
  withoutSecrets,
} from '../config/startup.js';
import { readTemporal } from '../config/temporal.js';
import { createAgentExecutor } from '../runs/temporal-executor.js';
import { untilCallsEnd } from '../runs/temporal-calls.js';
import { allExtensions, limitsOfSettings, type Extension } from '../extensions/index.js';
import { readPayloadKeys } from '../extensions/codec/settings.js';
import { explainTemporal, inUsableNamespace } from '../extensions/doctor/index.js';
import { readAccess, warnOfAccess } from '../extensions/jwt/settings.js';
import { createApiMetrics, createMetricsIfInstalled } from '../extensions/metrics/index.js';
import { readNotify } from '../extensions/notify/settings.js';
import { startLogging } from '../extensions/observe/logging.js';
import { loadAgentsFile, loadExtensions } from '../extensions/own-files/index.js';
import { withTimeout } from '../protocol/time.js';
import { explainRedis, warnOfRedis } from '../store/redis/inspect-redis.js';
import { createRedisStores } from '../store/redis/index.js';
import { createApi } from './create-api.js';
import { listen } from './listen.js';
import { createMetricsApp } from './create-metrics-app.js';
import { createReadiness } from './readiness.js';

const CLOSE_MS = 5_000;
/** A stopping process waits this long for runs that are being started, ms. */
const STARTS_MS = 1_000;

async function main(): Promise<void> {
  endWithParent(process);
  const config = parseEnv(process.env);
  const { logger, tracing } = await startLogging(config, 'api');
  const access = await readAccess(config);
  const hasAccounts = access.authenticate !== undefined;
  const agents = await createAgents(config, hasAccounts);
  const defaultAgent = readDefaultAgent(config, agents);
  for (const warning of warnOfAccess(config, hasAccounts)) logger.warn({}, warning);

  const redis = createRedisStores({
    url: config.REDIS_URL,
    whenAway: 'refuse',
    streamTtlSeconds: config.STREAM_TTL,
    sessionTtlSeconds: config.SESSION_TTL,
    auditKeys: config.AUDIT_KEY,
    auditTtlSeconds: readAuditTtl(config),
  });
  const temporal = readTemporal(process.env);
  const payloadKeys = readPayloadKeys(config.TEMPORAL_CODEC_KEYS);
  const keyIds = (payloadKeys ?? []).map(({ id }) => id);
  const explain = (withinMs?: number) =>
    explainTemporal({ ...temporal, taskQueue: config.TASK_QUEUE, keyIds, withinMs });
  const redisAddress = withoutSecrets(config.REDIS_URL);
  const times = config.HELIX_TIMES;
  const [connection] = await Promise.all([
    untilReachable(
      `Temporal at ${temporal.address}`,
      async () =>
        inUsableNamespace(await Connection.connect(temporal.connection), temporal.namespace),
      async (withinMs) => (await explain(withinMs)).fault,
      times.serverMs,
    ),
    untilReachable(
      `Redis at ${redisAddress}`,
      redis.ping,
      (withinMs) => explainRedis(config.REDIS_URL, redisAddress, withinMs),
      times.serverMs,
    ),
  ]);
  void explain().then(({ warning }) => {
    if (warning !== undefined) logger.warn({}, warning);
  });
  void warnOfRedis(redis.settings, logger);
  const toMetrics = config.METRICS_PORT === undefined ? createMetricsIfInstalled : createApiMetrics;
  const metrics = toMetrics({
    processMetrics: true,
    standing: redis.store.waiting.standing,
    questions: redis.store.waiting.questions,
    pauses: redis.store.pauses.of(`${temporal.namespace}/${config.TASK_QUEUE}`),
  });
  const isOpen = access.allowUnauthenticated === true;
  const extensions = [
    ...allExtensions({
      limits: limitsOfSettings(config, { isOpen }),
      notify: readNotify(config),
      codec: payloadKeys,
      tracing,
    }),
    ...(await loadExtensions<Extension>(config.EXTENSIONS)),
  ];
  const executor = await createAgentExecutor({
    extensions,
    connection,
    namespace: temporal.namespace,
    taskQueue: config.TASK_QUEUE,
    stores: redis,
    agents,
    ...describeRuns(config),
    meter: metrics.runs,
    times,
    logger,
  });

  const webRoot = config.WEB_ROOT ?? fileURLToPath(new URL('../web', import.meta.url));
  const app = createApi({
    executor,
    stores: redis,
    agents,
    extensions,
    defaultAgent,
    allowedFileHosts: config.FILE_HOSTS,
    busyPolicy: config.BUSY_POLICY,
    ...access,
    metrics,
    publicMetrics: config.METRICS_PORT === undefined,
    temporalUi: config.TEMPORAL_UI_URL,
    webRoot: existsSync(webRoot) ? webRoot : undefined,
    logger,
  });
  process.send?.('loaded');
  const server = await listen(app, config.PORT, config.HOST, config.LISTEN_WITHIN * 1000);
  const admin = config.METRICS_PORT;
  const readReadiness = createReadiness({ redis: redis.ping, ...executor.checks });
  const metricsServer =
    admin &&
    (await listen(
      createMetricsApp(metrics, logger, { ...access, readReadiness }),
      admin.port,
      admin.host,
    ));
  logger.info(
    {
      host: config.HOST,
      port: server.port,
      metricsPort: metricsServer?.port,
      agents: agents.getRegisteredTypes(),
    },
    'api listens',
  );
  process.send?.('ready');

  closeOnSignal(process, CLOSE_MS, async (err) => {
    if (err !== undefined) logger.error({ err }, 'the api ends after an unexpected error');
    await Promise.all([server.close(), metricsServer?.close()]);
    // A worker starts the remaining runs.
    await withTimeout(STARTS_MS, executor.runs.idle()).catch(() => undefined);
    await redis.close();
    await withTimeout(STARTS_MS, untilCallsEnd(connection)).catch(() => undefined);
    await connection.close();
    await tracing?.close();
  });
}

/** This process only checks agents' names and starts runs; workers execute the agents. */
async function createAgents(config: Config, hasAccounts: boolean): Promise<AgentRegistry> {
  if (config.AGENTS !== undefined) {
    return loadAgentsFile(config.AGENTS, { env: withoutBlank(process.env) });
  }
  const { createExampleAgents, isLabServed } = await import('../examples/index.js');
  return new AgentRegistry(
    createExampleAgents({
      lab: isLabServed({ setting: config.LAB, hasAccounts, host: config.HOST }),
      labShape: config.LAB_SHAPE,
    }),
  );
}

/** Returns the agent of conversations that name none; with `AGENTS` the first public agent. */
function readDefaultAgent(config: Config, agents: AgentRegistry): string | undefined {
  const name = config.DEFAULT_AGENT;
  if (name === undefined && config.AGENTS !== undefined) {
    return agents.getRegisteredTypes().find((type) => agents.isPublic(type));
  }
  if (name !== undefined && !agents.isPublic(name)) {
    throw new ConfigError(
      `Bad configuration: DEFAULT_AGENT names no agent that people may talk to: ${name}`,
    );
  }
  return name;
}

function describeRuns(config: Config): {
  modelName?: string;
  sessionUrl?: (sessionId: string, runId: string) => string;
} {
  const { MODEL, PUBLIC_URL } = config;
  return { modelName: MODEL, sessionUrl: consoleUrlOf(PUBLIC_URL) };
}

startProcess(main);
