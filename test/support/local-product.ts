import { randomBytes } from 'node:crypto';
import { createApi } from '../../api/index.js';
import { listen } from '../../api/listen.js';
import { createSupportAgent } from '../../examples/support/agent.js';
import { createLabAgent } from '../../examples/lab/agent.js';
import { allExtensions } from '../../extensions/index.js';
import { AgentRegistry } from '../../agents/index.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
} from '../../extensions/one-process/index.js';
import { openTestStores, type TestStores } from './test-stores.js';

/** The product in this process: its API over the executor that needs no Temporal. */
export interface LocalProduct {
  url: string;
  redis: TestStores['redis'];
  executor: InProcessExecutor;
  stop: () => Promise<void>;
}

/** The lab agent behind a real API, on the Redis that all test files share. */
export async function startLocalProduct(): Promise<LocalProduct> {
  const stores = await openTestStores();
  const { redis } = stores;
  const lab = createLabAgent({
    countCharge: (key) => redis.hincrby('lab:charges', key, 1),
  });
  const agents = new AgentRegistry([lab, createSupportAgent()]);
  const name = randomBytes(4).toString('hex');
  const executor = createInProcessExecutor({ agents, stores, name });
  const app = createApi({
    executor,
    stores,
    agents,
    extensions: allExtensions(),
    defaultAgent: 'support',
    allowUnauthenticated: true,
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  const { port, close } = await listen(app, 0, '127.0.0.1');
  return {
    url: `http://127.0.0.1:${String(port)}`,
    redis,
    executor,
    stop: async () => {
      await close();
      await executor.close();
    },
  };
}
