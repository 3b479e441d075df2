import { checkCommonKeys } from '../ai-sdk/common-keys.js';
import { useProduct } from '../support/product.js';
import { startBrowser, type Browser } from './browser.js';
import { clients, PLAYS_ALL, type Client } from './clients.js';
import { castOf, titleOf, type Scenario } from './scenario.js';
import { approvals } from './scenarios/approvals.js';
import { connections } from './scenarios/connections.js';
import { withOwnKits, withStaticParts } from './scenarios/own-kits.js';
import { reloads } from './scenarios/reloads.js';
import { turns } from './scenarios/turns.js';
import { replies } from './scenarios/replies.js';
import { openStage } from './stage.js';
import { parseParts } from './wire-parts.js';

// Real clients against the real product. All versions play a scenario at the same time, each in its
// own conversation. Scenarios mostly wait for output, so several run concurrently.
const LANES = 2;

const STOCK = [...replies, ...approvals, ...reloads, ...connections, ...turns];
const SCENARIOS = [...STOCK, ...withStaticParts(STOCK), ...withOwnKits(STOCK)];
/** The schemas of these versions refuse every unknown key. */
const STRICTEST = ['6.0.0', '7.0.0'];

const product = useProduct();
/** One browser per version and lane: showing a page again wakes all pages of its browser. */
let lanes: Browser[][];

beforeAll(async () => {
  const starts = Array.from({ length: LANES }, () => Promise.all(clients.map(startBrowser)));
  lanes = await Promise.all(starts);
}, 60_000);
afterAll(() => Promise.all(lanes.flat().map((browser) => browser.close())));

const KITS = [...new Set(SCENARIOS.map(({ kit }) => kit))];

/** Returns the clients that play a scenario: all for stock pages, one in turn for other kits. */
function playersOf(index: number): readonly Client[] {
  const { kit } = SCENARIOS[index] ?? {};
  if (PLAYS_ALL || kit === undefined || kit === 'stock') return clients;
  const nth = (index + KITS.indexOf(kit)) % clients.length;
  return clients.slice(nth, nth + 1);
}

const outcomes = new Map<number, Map<Client, Promise<void>>>();

function begin(index: number): Promise<unknown> {
  const scenario = SCENARIOS[index];
  if (scenario === undefined) return Promise.resolve();
  const browsers = lanes[index % LANES] ?? [];
  const players = browsers.filter(({ client }) => playersOf(index).includes(client));
  const begun =
    outcomes.get(index) ??
    new Map(players.map((browser) => [browser.client, play(scenario, browser, browsers)]));
  outcomes.set(index, begun);
  return Promise.allSettled(begun.values());
}

describe.each(SCENARIOS.map((scenario, index) => ({ ...scenario, index })))('$name', (scenario) => {
  const { index } = scenario;
  beforeAll(async () => {
    const [own] = Array.from({ length: LANES }, (_, ahead) => begin(index + ahead));
    await own;
  }, 240_000);

  for (const client of playersOf(index)) {
    it(titleOf(scenario, client), () => outcomes.get(index)?.get(client));
  }
});

async function play(scenario: Scenario, browser: Browser, browsers: Browser[]): Promise<void> {
  const stage = openStage(browser, product, scenario.kit);
  try {
    await castOf(scenario, browser.client)(stage);
    // Events of the agent server become parts only on the page.
    const logs = (await stage.readLogs()).filter(({ url }) => !url.includes('/api/agent/'));
    const parts = logs.flatMap(({ raw }) => parseParts(raw));
    for (const part of parts) checkCommonKeys(part);
    for (const strict of browsers) {
      if (STRICTEST.includes(strict.client.ai)) expect(await strict.validate(parts)).toEqual([]);
    }
  } catch (error) {
    const log = (await stage.readLogs()).map(({ body, ...request }) => JSON.stringify(request));
    throw new Error(`${String(error)}\n${log.join('\n')}`, { cause: error });
  } finally {
    await stage.close();
  }
}
