import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { createActivities } from '../activities/index.js';
import { AgentRegistry, modelFromSpec } from '../agents/index.js';
import { parseEnv } from '../config/env.js';
import { createLogger } from '../config/logger.js';
import { endWithParent, startProcess, untilReachable, withoutSecrets } from '../config/startup.js';
import { createExampleAgents } from '../examples/index.js';
import {
  createRunWorkflows,
  createSweep,
  createTemporalExecutor,
  registerSearchAttributes,
} from '../executor/index.js';
import { createRedisStores } from '../stores/redis/index.js';
import { createAgentWorker } from './create-worker.js';
import { startSweeper } from './sweeper.js';

async function main(): Promise<void> {
  endWithParent(process);
  const config = parseEnv(process.env);
  const logger = createLogger({ name: 'worker', level: config.LOG_LEVEL });
  const model = modelFromSpec(config.MODEL, config);
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      const err: unknown = meta?.['error'];
      logger[level === 'ERROR' ? 'error' : 'warn']({ err, meta }, message);
    }),
  });

  const redis = createRedisStores({
    url: config.REDIS_URL,
    role: 'worker',
    streamTtlSeconds: config.STREAM_TTL,
    sessionTtlSeconds: config.SESSION_TTL,
  });
  await untilReachable(`Redis at ${withoutSecrets(config.REDIS_URL)}`, redis.ping);
  for (const warning of (await redis.settings()).warnings) logger.warn(warning);
  const address = config.TEMPORAL_ADDRESS;
  const namespace = config.TEMPORAL_NAMESPACE;
  const [connection, clientConnection] = await untilReachable(`Temporal at ${address}`, () =>
    Promise.all([NativeConnection.connect({ address }), Connection.connect({ address })]),
  );

  const { store, streamManager } = redis;
  const agents = new AgentRegistry(
    createExampleAgents({ countCharge: (key) => redis.countIn('lab:charges', key), model }),
  );
  const client = new Client({ connection: clientConnection, namespace });
  const workflows = createRunWorkflows(client, config.TASK_QUEUE);
  const searchAttributes = await registerSearchAttributes(clientConnection, namespace);
  if (!searchAttributes) logger.warn('Search attributes cannot be registered: runs go without.');
  const publicUrl = config.PUBLIC_URL;
  const executor = createTemporalExecutor({
    store,
    streamManager,
    workflows,
    agents,
    searchAttributes,
    ...(config.MODEL !== undefined && { modelName: config.MODEL }),
    ...(publicUrl !== undefined && {
      sessionUrl: (sessionId: string) => `${publicUrl}/?session=${sessionId}`,
    }),
    logger,
  });

  const worker = await createAgentWorker({
    connection,
    namespace,
    taskQueue: config.TASK_QUEUE,
    activities: createActivities({ store, streamManager, agents, services: {}, logger }),
    workflows: { bundlePath: fileURLToPath(new URL('../workflows/bundle.js', import.meta.url)) },
  });
  const holder = `${hostname()}:${String(process.pid)}`;
  const sweeper = startSweeper(createSweep({ store, executor, workflows, holder, logger }), logger);
  try {
    logger.info(
      { taskQueue: config.TASK_QUEUE, agents: agents.getRegisteredTypes() },
      'worker runs',
    );
    // Ends on SIGINT or SIGTERM, which Temporal's runtime listens for.
    await worker.run();
  } finally {
    // Together: a sweep that waits for a Redis that is away ends when its connection does.
    await Promise.all([sweeper.stop(), redis.close()]);
    await clientConnection.close();
    await connection.close();
  }
}

startProcess(main);
