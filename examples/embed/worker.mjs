// A worker of your own that runs agents: node examples/embed/worker.mjs
import { NativeConnection } from '@temporalio/worker';
import { leases } from 'helix-temporal/leases';
import { createAgentWorker } from 'helix-temporal/runtime-temporal';
import { createRedisStores } from 'helix-temporal/store-redis';
import { timekeeper } from './agent.mjs';

const { TEMPORAL_ADDRESS = '127.0.0.1:7233', REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const { TASK_QUEUE = 'timekeepers' } = process.env;

const connection = await NativeConnection.connect({ address: TEMPORAL_ADDRESS });
const stores = createRedisStores({ url: REDIS_URL, whenAway: 'wait' });
const worker = await createAgentWorker({
  connection,
  taskQueue: TASK_QUEUE,
  agents: [timekeeper],
  stores,
  extensions: [leases()],
});
// Runs until SIGINT or SIGTERM; work in progress gets 30 s, then another worker takes over.
await worker.run();
await stores.close();
await connection.close();
