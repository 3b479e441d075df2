import { checkCommonKeys } from '../ai-sdk/common-keys.js';
import { useLocalProduct, type LocalProduct } from '../support/local-product.js';
import { chargesOf } from '../support/lab-calls.js';
import { createSignIn, signToken } from '../support/people.js';
import { useProduct, type SharedProduct } from '../support/product.js';
import { startSigningProxy } from '../support/signing-proxy.js';
import { storedRecord } from '../support/stored-record.js';
import { startBrowser, type Browser } from './browser.js';
import { clients, PLAYS_ALL, type Client } from './clients.js';
import { castOf, titleOf, type Scenario } from './scenario.js';
import { approvals } from './scenarios/approvals.js';
import { connections } from './scenarios/connections.js';
import { fourEyes } from './scenarios/four-eyes.js';
import { SHARED, withOwnKits, withStaticParts } from './scenarios/own-kits.js';
import { reloads } from './scenarios/reloads.js';
import { turns } from './scenarios/turns.js';
import { replies } from './scenarios/replies.js';
import { openStage, type StagedProduct } from './stage.js';
import { parseParts } from './wire-parts.js';

// Real clients, each in a conversation of its own. Stock pages of anonymous users play against the
// whole product; others against an API in whose process the runs are carried out.

/** Number of plays in progress at a time: they mostly wait for output. */
const TOGETHER = 6;

const STOCK = [...replies, ...approvals, ...reloads, ...connections, ...turns];
const SCENARIOS = [
  ...STOCK,
  ...withStaticParts(STOCK),
  ...withOwnKits(STOCK),
  ...fourEyes(createSignIn(() => accounts.url)),
];
/** The schemas of these versions refuse every unknown key. */
const STRICTEST = ['6.0.0', '7.0.0'];

const product = useProduct();
const local = useLocalProduct();
const accounts = useLocalProduct({ hasAccounts: true });
let customer: Awaited<ReturnType<typeof startSigningProxy>>;
const browsers = new Map<Client, Browser>();

const KITS = [...new Set(SCENARIOS.map(({ kit }) => kit))];

/** Returns the clients that play a scenario: all if versions differ in it or it is a basic one, else one in turn. */
function playersOf({ kit, name, exceptions }: Scenario, index: number): readonly Client[] {
  const isForAll = kit === 'stock' && (SHARED.has(name) || exceptions.length > 0);
  if (PLAYS_ALL || isForAll) return clients;
  const nth = (index + KITS.indexOf(kit)) % clients.length;
  return clients.slice(nth, nth + 1);
}

const plays = SCENARIOS.flatMap((scenario, index) =>
  playersOf(scenario, index).map((client) => ({
    title: `${scenario.name}: ${titleOf(scenario, client)}`,
    scenario,
    client,
    outcome: Promise.resolve(),
  })),
);

beforeAll(async () => {
  customer = await startSigningProxy(() => accounts.url, await signToken('cora', undefined));
  for (const browser of await Promise.all(clients.map(startBrowser))) {
    browsers.set(browser.client, browser);
  }
  await playAll(({ scenario }) => scenario.isAlone === true, 1);
  await playAll(({ scenario }) => scenario.isAlone !== true, TOGETHER);
}, 900_000);
afterAll(async () => {
  await Promise.all([...browsers.values()].map((browser) => browser.close()));
  await customer.close();
});

/** Begins the chosen plays in their order, and waits for their ends. */
async function playAll(isChosen: (of: (typeof plays)[number]) => boolean, together: number) {
  const left = plays.filter(isChosen).values();
  const playInTurn = async (): Promise<void> => {
    for (const of of left) {
      of.outcome = play(of.scenario, of.client);
      await Promise.allSettled([of.outcome]);
    }
  };
  await Promise.all(Array.from({ length: together }, playInTurn));
}

it.each(plays)('$title', async (of) => {
  await of.outcome;
});

async function play(scenario: Scenario, client: Client): Promise<void> {
  const browser = browsers.get(client);
  if (browser === undefined) throw new Error(`no browser of ${client.name}`);
  const { kit, isOfCustomer = false } = scenario;
  const stage = isOfCustomer
    ? openStage(browser, ofLocal(accounts, customer.url), kit, 'support')
    : openStage(browser, kit === 'stock' ? ofWhole(product) : ofLocal(local), kit);
  try {
    await castOf(scenario, client)(stage);
    // Events of the agent server become parts only on the page.
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

function ofWhole({ url, redis }: SharedProduct): StagedProduct {
  return {
    url,
    chargesOf: (runs) => chargesOf(redis, runs),
    storedStream: async (sessionId) => (await storedRecord(redis, sessionId))?.stream,
  };
}

function ofLocal({ stores, chargesOf: count, url }: LocalProduct, proxyUrl = url): StagedProduct {
  return {
    url: proxyUrl,
    chargesOf: (runs) => Promise.resolve(count(runs)),
    storedStream: async (sessionId) => (await stores.store.sessions.read(sessionId))?.stream,
  };
}
