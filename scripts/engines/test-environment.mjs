// What tests and measurements need besides the code: the programs, by environment variable.
import { findChromium } from './chromium.mjs';
import { findRedis } from './redis.mjs';
import { findTemporal, findTestServer } from './temporal.mjs';

/** How the tests' Temporal differs. */
export const TEST_TEMPORAL_CONFIG = {
  // Runs continue as new after about 13 steps, far fewer than usual.
  'limit.historyCount.suggestContinueAsNew': 150,
  // A workflow that has just closed is deleted only once these queues have noted that its tasks are done:
  // within seconds, not up to a minute as usual.
  'history.transferProcessorUpdateAckInterval': '"1s"',
  'history.visibilityProcessorUpdateAckInterval': '"1s"',
};

/** Finds or fetches all of them. Without a Chromium only the tests of the page fail. */
export async function testEnvironment({ withBrowser = true } = {}) {
  const temporal = await findTemporal();
  const testServer = await findTestServer();
  const redis = await findRedis();
  const chromium = withBrowser ? await findChromium() : {};
  if (chromium.reason) process.stderr.write(`${chromium.reason}\n`);
  return {
    TEMPORAL_CLI_PATH: temporal,
    TEMPORAL_TEST_SERVER_PATH: testServer,
    REDIS_SERVER_PATH: redis,
    ...(chromium.path && { CHROMIUM_PATH: chromium.path }),
  };
}
