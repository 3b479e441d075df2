import { startBrowser, type Browser } from '../../clients/browser.js';
import { clients } from '../../clients/clients.js';
import { castOf } from '../../clients/scenario.js';
import { approvals } from '../../clients/scenarios/approvals.js';
import { reloads } from '../../clients/scenarios/reloads.js';
import { replies } from '../../clients/scenarios/replies.js';
import { turns } from '../../clients/scenarios/turns.js';
import { openStage } from '../../clients/stage.js';
import { startLocalProduct, type LocalProduct } from '../../support/local-product.js';

// Scenarios of the client matrix that differ by who carries out runs, against an API without Temporal.
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

describe('a chat whose runs are carried out by the process of the API', () => {
  it.each(SCENARIOS)('$name', async (scenario) => {
    const stage = openStage(browser, product, scenario.kit);
    try {
      await castOf(scenario, browser.client)(stage);
    } finally {
      await stage.close();
    }
  });
});
