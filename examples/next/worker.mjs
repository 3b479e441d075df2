// Runs the agent: npm run worker
import { NativeConnection } from '@temporalio/worker';
import { createAgentWorker } from 'helix-temporal/runtime-temporal';
import { createRedisStores } from 'helix-temporal/store-redis';
import { agent } from './lib/agent.mjs';

const { TEMPORAL_ADDRESS = '127.0.0.1:7233', REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const { TASK_QUEUE = 'desk' } = process.env;

const connection = await NativeConnection.connect({ address: TEMPORAL_ADDRESS });
const stores = createRedisStores({ url: REDIS_URL, whenAway: 'wait' });
const worker = await createAgentWorker({
  connection,
  taskQueue: TASK_QUEUE,
  agents: [agent],
  stores,
});
await worker.run();
await stores.close();
await connection.close();
