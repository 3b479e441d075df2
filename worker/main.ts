import type { AgentRegistry } from '../agents/index.js';
import { readAuditTtl } from '../config/audit-ttl.js';
import { parseEnv, withoutBlank, type Config } from '../config/env.js';
import { readNotify } from '../config/notify.js';
import { endWithParent, startProcess } from '../config/startup.js';
import { loadExtensions } from '../config/own-extensions.js';
import type { WorkerExtension } from './extension.js';
import { startLogging } from '../config/traces.js';
import { readPayloadKeys } from '../config/payload-keys.js';
import { readTemporal } from '../config/temporal.js';
import { explainRedis } from '../store/redis/inspect-redis.js';
import { createRedisStores } from '../store/redis/index.js';
import { beginLease } from '../extensions/leases/index.js';

async function main(): Promise<void> {
  endWithParent(process);
  const config = parseEnv(process.env);
  const temporal = readTemporal(process.env);
  const { logger, tracing } = await startLogging(
    config,
    () => import('../extensions/observe/start-tracing.js'),
    'worker',
  );
  const redis = createRedisStores({
    url: config.REDIS_URL,
    whenAway: 'wait',
    streamTtlSeconds: config.STREAM_TTL,
    sessionTtlSeconds: config.SESSION_TTL,
    auditKeys: config.AUDIT_KEY,
    auditTtlSeconds: readAuditTtl(config),
  });
  const { leases } = redis.store;
  const lease =
    leases &&
    beginLease({
      id: config.LEASE_ID,
      replaces: config.ENDED_LEASE_ID,
      leases,
      namespace: temporal.namespace,
      unansweredMs: redis.unansweredMs,
      logger,
    });
  lease?.lease.load();
  try {
    // The packages of Temporal take most of the time that it takes to start.
    const [
      { runWorker },
      { allExtensions, limitsOfSettings },
      { startWorkerMetrics },
      { agents, close },
    ] = await Promise.all([
      import('./run-worker.js'),
      import('../extensions/index.js'),
      import('../extensions/metrics/worker-process.js'),
      loadAgents(config),
    ]);
    const keys = readPayloadKeys(config.TEMPORAL_CODEC_KEYS);
    try {
      await runWorker({
        config,
        temporal,
        logger,
        redis,
        extensions: [
          ...allExtensions({
            limits: limitsOfSettings(config),
            notify: readNotify(config),
            codec: keys,
            leases: lease,
            tracing,
          }),
          ...(await loadExtensions<WorkerExtension>(config.EXTENSIONS)),
        ],
        agents,
        explainRedis: (address) => explainRedis(config.REDIS_URL, address),
        keyIds: (keys ?? []).map(({ id }) => id),
        metrics: await startWorkerMetrics(config, logger),
        onReady: () => process.send?.('ready'),
        onFailed: () => lease?.lease.close(),
      });
    } finally {
      close();
      await tracing?.close();
    }
  } catch (error) {
    // A lease that lapses is taken for that of a worker that died.
    await lease?.lease.close();
    throw error;
  }
}

/** The agents of `AGENTS`, or the examples. */
async function loadAgents(config: Config): Promise<{ agents: AgentRegistry; close: () => void }> {
  // The keys of models have names that only their packages know.
  const env = withoutBlank(process.env);
  if (config.AGENTS !== undefined) {
    const { loadAgentsFile } = await import('../agents/agents-file.js');
    return { agents: await loadAgentsFile(config.AGENTS, { env }), close: () => undefined };
  }
  const [{ AgentRegistry, modelsFromSpec }, { createExampleAgents }, { createChargeCounter }] =
    await Promise.all([
      import('../agents/index.js'),
      import('../examples/index.js'),
      import('../examples/charge-counter.js'),
    ]);
  const model = await modelsFromSpec(config.MODEL, env);
  const charges = createChargeCounter(config.REDIS_URL);
  const examples = createExampleAgents({
    countCharge: charges.count,
    findCharge: charges.find,
    model,
    lab: config.LAB ?? true,
    labShape: config.LAB_SHAPE,
  });
  return { agents: new AgentRegistry(examples), close: charges.close };
}

startProcess(main);
