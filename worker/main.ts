import type { AgentRegistry } from '../agents/index.js';
import { readAuditTtl, parseEnv, withoutBlank, type Config } from '../config/env.js';
import { endWithParent, startProcess } from '../config/startup.js';
import { readTemporal } from '../config/temporal.js';
import { createRedisStores } from '../store/redis/index.js';
import { beginLease } from '../extensions/leases/index.js';
import { startLogging } from '../extensions/observe/logging.js';

async function main(): Promise<void> {
  endWithParent(process);
  const config = parseEnv(process.env);
  const temporal = readTemporal(process.env);
  const { logger, tracing } = await startLogging(config, 'worker');
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
      times: config.HELIX_TIMES,
      logger,
    });
  lease?.lease.load();
  try {
    // Loading Temporal's packages takes most of the start-up time.
    const [{ runWorker }, { agents, close }] = await Promise.all([
      import('./run-main.js'),
      loadAgents(config),
    ]);
    const onReady = () => process.send?.('ready');
    try {
      await runWorker({ config, temporal, logger, tracing, redis, lease, agents, onReady });
    } finally {
      close();
      await tracing?.close();
    }
  } catch (error) {
    // Other workers would take a lapsed lease for that of a dead worker.
    await lease?.lease.close();
    throw error;
  }
}

async function loadAgents(config: Config): Promise<{ agents: AgentRegistry; close: () => void }> {
  // Only the packages of models know the names of their keys.
  const env = withoutBlank(process.env);
  if (config.AGENTS !== undefined) {
    const { loadAgentsFile } = await import('../extensions/own-files/index.js');
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

startProcess(async () => {
  await main();
  // Agents and tools may keep timers and connections open.
  process.exit();
});
