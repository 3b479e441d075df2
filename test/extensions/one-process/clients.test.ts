import { randomBytes } from 'node:crypto';
import { startBrowser, type Browser } from '../../clients/browser.js';
import { clients } from '../../clients/clients.js';
import { castOf } from '../../clients/scenario.js';
import { approvals } from '../../clients/scenarios/approvals.js';
import { reloads } from '../../clients/scenarios/reloads.js';
import { replies } from '../../clients/scenarios/replies.js';
import { turns } from '../../clients/scenarios/turns.js';
import { openStage } from '../../clients/stage.js';
import { createApi } from '../../../api/index.js';
import { listen } from '../../../api/listen.js';
import { createSupportAgent } from '../../../examples/support/agent.js';
import { createLabAgent } from '../../../examples/lab/agent.js';
import { allExtensions } from '../../../extensions/index.js';
import { AgentRegistry } from '../../../agents/index.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
} from '../../../extensions/one-process/index.js';
import { openTestStores, type TestStores } from '../../support/test-stores.js';

/** The product in this process: its API over the in-process executor. */
interface LocalProduct {
  url: string;
  redis: TestStores['redis'];
  executor: InProcessExecutor;
  stop: () => Promise<void>;
}

/** Starts the lab agent behind a real API, on the Redis that all test files share. */
async function startLocalProduct(): Promise<LocalProduct> {
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

// Scenarios of the client matrix that depend on the executor, against an API without Temporal.
const NAMES = new Set([
  'server tools',
  'a failed run',
  'approve',
  'sub-agent that asks',
  'deadline',
  'stop of a running tool',
  'queue',
  'reload at boundaries of what follows an approval',
]);
const SCENARIOS = [...replies, ...approvals, ...reloads, ...turns].filter(({ name }) =>
  NAMES.has(name),
);
if (SCENARIOS.length !== NAMES.size) throw new Error('a scenario is missing');

const [client] = clients.slice(-1);
let product: LocalProduct;
let browser: Browser;
beforeAll(async () => {
  if (client === undefined) throw new Error('there is no client');
  product = await startLocalProduct();
  browser = await startBrowser(client);
}, 60_000);
afterAll(async () => {
  await browser.close();
  await product.stop();
});

describe('a chat whose runs are carried out by the process of the API', () =>
  it.each(SCENARIOS)('$name', async (scenario) => {
    const stage = openStage(browser, product, scenario.kit);
    try {
      await castOf(scenario, browser.client)(stage);
    } finally {
      await stage.close();
    }
  }));
