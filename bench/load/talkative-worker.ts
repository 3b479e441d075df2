import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { endWithParent, startProcess } from '../../config/startup.js';
import { openStores } from '../client/seed-turn.js';
import { createAgentWorker } from '../../extensions/worker.js';
import { createTalkativeAgent } from './talkative-agent.js';

/** The worker's report of a model call. */
export interface Asked {
  step: number;
  /** CPU time of the process so far, ms. */
  cpu: number;
  /** Resident memory, MB. */
  resident: number;
  /** Cost of the minimum that a provider's package does, at some steps: the prompt as JSON. */
  toJson?: { ms: number; characters: number };
}

/** Steps between two measurements of the prompt as JSON. */
const LOOK_EVERY = 10;

/**
 * Runs a worker with the talkative agent: `<redis url> <temporal address> <task queue> <steps>`. Reports each
 * model call to its parent.
 */
async function main(): Promise<void> {
  endWithParent(process);
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const [url = '', address = '', taskQueue = '', steps] = process.argv.slice(2);
  const redis = openStores(url);
  const connection = await NativeConnection.connect({ address });
  const agent = createTalkativeAgent(Number(steps), (step, prompt) => {
    const { user, system } = process.cpuUsage();
    const resident = process.memoryUsage.rss() / 2 ** 20;
    const asked: Asked = { step, cpu: (user + system) / 1000, resident };
    process.send?.(step % LOOK_EVERY === 0 ? { ...asked, toJson: timeJson(prompt) } : asked);
  });
  try {
    const worker = await createAgentWorker({
      connection,
      taskQueue,
      agents: [agent],
      stores: redis,
    });
    await worker.run();
  } finally {
    await redis.close();
    await connection.close();
  }
}

function timeJson(prompt: unknown): Asked['toJson'] {
  const from = performance.now();
  const { length } = JSON.stringify(prompt);
  return { ms: performance.now() - from, characters: length };
}

startProcess(main);
