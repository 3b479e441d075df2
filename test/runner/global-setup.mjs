// Runs once before all tests: one real Redis and one real Temporal, shared by the test files, which
// keep apart by random session ids and task queues. (Plain JavaScript, because jest loads this
// file before its transforms work for modules.)
import { startPrivateRedis, startPrivateTemporal } from '../../scripts/engines/private-engines.mjs';
import { findRedis } from '../../scripts/engines/redis.mjs';
import { TEST_TEMPORAL_CONFIG } from '../../scripts/engines/test-environment.mjs';
import { findTemporal, findTestServer } from '../../scripts/engines/temporal.mjs';

export default async function globalSetup() {
  // Also when jest is called directly, by an editor for example.
  process.env.TEMPORAL_CLI_PATH ??= await findTemporal();
  process.env.TEMPORAL_TEST_SERVER_PATH ??= await findTestServer();
  process.env.REDIS_SERVER_PATH ??= await findRedis();

  // Temporal's own collector of garbage takes half of its time otherwise; there is memory enough.
  process.env.GOGC ??= '400';

  const engines = [];
  globalThis.helixTestEngines = engines;
  await Promise.all([
    provide('TEST_REDIS_URL', async () => {
      const redis = await startPrivateRedis({ file: process.env.REDIS_SERVER_PATH });
      engines.push(redis);
      return redis.url;
    }),
    provide('TEST_TEMPORAL_ADDRESS', async () => {
      const temporal = await startPrivateTemporal({
        file: process.env.TEMPORAL_CLI_PATH,
        dynamicConfig: TEST_TEMPORAL_CONFIG,
        // Nobody stops it before the end of the run.
        isKept: false,
      });
      engines.push(temporal);
      return temporal.address;
    }),
  ]);
}

/** A server that was given is used, and left alone afterwards. */
async function provide(variable, start) {
  process.env[variable] ??= await start();
}
