import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { AgentRegistry, modelFromSpec } from '../agents/index.js';
import { parseEnv } from '../config/env.js';
import { readPayloadKeys } from '../config/payload-keys.js';
import { createLogger } from '../config/logger.js';
import { endWithParent, startProcess, untilReachable, withoutSecrets } from '../config/startup.js';
import { readTemporal } from '../config/temporal.js';
import { createChargeCounter } from '../examples/charge-counter.js';
import { createExampleAgents } from '../examples/index.js';
import { createPayloadCodec } from '../executor/payload-codec.js';
import { createRedisStores } from '../stores/redis/index.js';
import { createAgentWorker } from './create-worker.js';

async function main(): Promise<void> {
  endWithParent(process);
  const config = parseEnv(process.env);
  const logger = createLogger({ name: 'worker', level: config.LOG_LEVEL });
  const model = await modelFromSpec(config.MODEL, config);
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      const err: unknown = meta?.['error'];
      logger[level === 'ERROR' ? 'error' : 'warn']({ err, meta }, message);
    }),
  });

  const redis = createRedisStores({
    url: config.REDIS_URL,
    whenAway: 'wait',
    streamTtlSeconds: config.STREAM_TTL,
    sessionTtlSeconds: config.SESSION_TTL,
    recordLayout: config.RECORD_LAYOUT,
    auditKeys: config.AUDIT_KEY,
    auditTtlSeconds: config.AUDIT_TTL,
  });
  await untilReachable(`Redis at ${withoutSecrets(config.REDIS_URL)}`, redis.ping);
  for (const warning of (await redis.settings()).warnings) logger.warn(warning);
  const temporal = readTemporal(process.env);
  const payloadKeys = readPayloadKeys(config.TEMPORAL_CODEC_KEYS);
  const connection = await untilReachable(`Temporal at ${temporal.address}`, () =>
    NativeConnection.connect(temporal.connection),
  );

  const charges = createChargeCounter(config.REDIS_URL);
  const agents = new AgentRegistry(
    createExampleAgents({
      countCharge: charges.count,
      model,
      lab: config.LAB ?? true,
      labShape: config.LAB_SHAPE,
    }),
  );
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
    lease: { id: config.LEASE_ID, replaces: config.ENDED_LEASE_ID },
    modelName: config.MODEL,
    ...(publicUrl !== undefined && {
      sessionUrl: (sessionId: string) => `${publicUrl}/?session=${sessionId}`,
    }),
    logger,
  });
  try {
    logger.info(
      { taskQueue: config.TASK_QUEUE, agents: agents.getRegisteredTypes() },
      'worker runs',
    );
    // Resolves after SIGINT or SIGTERM, which Temporal's runtime handles.
    await worker.run();
  } finally {
    charges.close();
    await redis.close();
    await connection.close();
  }
}

startProcess(main);
