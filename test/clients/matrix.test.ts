import { checkCommonKeys } from '../ai-sdk/common-keys.js';
import { useProduct } from '../support/product.js';
import { startBrowser, type Browser } from './browser.js';
import { clients } from './clients.js';
import { castOf, titleOf, type Scenario } from './scenario.js';
import { approvals } from './scenarios/approvals.js';
import { connections } from './scenarios/connections.js';
import { withOwnKits, withStaticParts } from './scenarios/own-kits.js';
import { reloads } from './scenarios/reloads.js';
import { turns } from './scenarios/turns.js';
import { replies } from './scenarios/replies.js';
import { openStage } from './stage.js';
import { parseParts } from './wire-parts.js';

// Real clients against the real product. All versions play a scenario at the same time, each in a
// conversation of its own.

const STOCK = [...replies, ...approvals, ...reloads, ...connections, ...turns];
const SCENARIOS = [...STOCK, ...withStaticParts(STOCK), ...withOwnKits(STOCK)];
/** Their schemas refuse every key that they do not know. */
const STRICTEST = ['6.0.0', '7.0.0'];

const product = useProduct();
const browsers = new Map<string, Browser>();

beforeAll(async () => {
  for (const browser of await Promise.all(clients.map(startBrowser))) {
    browsers.set(browser.client.name, browser);
  }
}, 60_000);
afterAll(() => Promise.all([...browsers.values()].map((browser) => browser.close())));

describe.each(SCENARIOS)('$name', (scenario) => {
  const outcomes = new Map<string, Promise<void>>();
  beforeAll(async () => {
    for (const [name, browser] of browsers) outcomes.set(name, play(scenario, browser));
    await Promise.allSettled(outcomes.values());
  }, 240_000);

  for (const client of clients) it(titleOf(scenario, client), () => outcomes.get(client.name));
});

async function play(scenario: Scenario, browser: Browser): Promise<void> {
  const stage = openStage(browser, product, scenario.kit);
  try {
    await castOf(scenario, browser.client)(stage);
    // The agent server's events become parts on the page.
    const logs = (await stage.readLogs()).filter(({ url }) => !url.includes('/api/agent/'));
    const parts = logs.flatMap(({ raw }) => parseParts(raw));
    for (const part of parts) checkCommonKeys(part);
    for (const strict of browsers.values()) {
      if (STRICTEST.includes(strict.client.ai)) expect(await strict.validate(parts)).toEqual([]);
    }
  } catch (error) {
    const log = (await stage.readLogs()).map(({ body, ...request }) => JSON.stringify(request));
    throw new Error(`${String(error)}\n${log.join('\n')}`, { cause: error });
  } finally {
    await stage.close();
  }
}
