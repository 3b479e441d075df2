// Runs an agent from a program: node examples/embed/ask.mjs "What time is it?"
import { Connection } from '@temporalio/client';
import { createAgentExecutor } from 'helix-temporal/runtime-temporal';
import { createRedisStores } from 'helix-temporal/store-redis';
import { timekeeper } from './agent.mjs';

const { TEMPORAL_ADDRESS = '127.0.0.1:7233', REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const { TASK_QUEUE = 'timekeepers' } = process.env;

const connection = await Connection.connect({ address: TEMPORAL_ADDRESS });
// An API fails at once while Redis is away; a program may wait, as workers do.
const stores = createRedisStores({ url: REDIS_URL, whenAway: 'wait' });
const executor = await createAgentExecutor({
  connection,
  taskQueue: TASK_QUEUE,
  agents: [timekeeper],
  stores,
});
const handle = await executor.execute('timekeeper', process.argv[2] ?? 'What time is it?');
for await (const chunk of handle.stream()) {
  if (chunk.type === 'text_delta') process.stdout.write(chunk.delta);
}
const result = await handle.result();
process.stdout.write(`\n${result.status}\n`);
await stores.close();
await connection.close();
