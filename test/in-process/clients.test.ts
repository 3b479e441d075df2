import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { installClients } from '../../scripts/clients/client-versions.mjs';
import { startBrowser, type Browser } from '../clients/browser.js';
import { castOf, titleOf } from '../clients/scenario.js';
import { approvals } from '../clients/scenarios/approvals.js';
import { connections } from '../clients/scenarios/connections.js';
import { reloads } from '../clients/scenarios/reloads.js';
import { replies } from '../clients/scenarios/replies.js';
import { turns } from '../clients/scenarios/turns.js';
import { openStage } from '../clients/stage.js';
import { startLocalProduct, type LocalProduct } from '../support/local-product.js';

// The scenarios of test/clients with one real client, against an API without Temporal behind it.

const SCENARIOS = [...replies, ...approvals, ...reloads, ...connections, ...turns];

const client = (await installClients()).findLast((each) => each.entry !== undefined);
let product: LocalProduct;
let browser: Browser;

if (client === undefined) it.skip('a client can be installed', () => undefined);
else {
  beforeAll(async () => {
    product = await startLocalProduct();
    browser = await startBrowser(client);
  }, 60_000);
  afterAll(async () => {
    await browser.close();
    await product.stop();
  });

  describe('a chat whose runs are carried out by the process of the API', () => {
    it.each(SCENARIOS.map((each) => [`${each.name}: ${titleOf(each, client)}`, each] as const))(
      '%s',
      async (_name, scenario) => {
        const stage = openStage(browser, product, scenario.kit);
        try {
          await castOf(scenario, client)(stage);
        } finally {
          await stage.close();
        }
      },
    );
  });
}
