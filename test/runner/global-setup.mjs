// Runs once before all tests and starts one real Redis and one real Temporal. Test files share them
// and keep apart by random session ids and task queues. (This is plain JavaScript because jest
// loads it before its transforms work for modules.)
import { startPrivateRedis, startPrivateTemporal } from '../../scripts/engines/private-engines.mjs';
import { findRedis } from '../../scripts/engines/redis.mjs';
import { TEST_TEMPORAL_CONFIG } from '../../scripts/engines/test-environment.mjs';
import { findTemporal, findTestServer } from '../../scripts/engines/temporal.mjs';

export default async function globalSetup() {
  // An editor may call jest directly, so the programs are located here too.
  process.env.TEMPORAL_CLI_PATH ??= await findTemporal();
  process.env.TEMPORAL_TEST_SERVER_PATH ??= await findTestServer();
  process.env.REDIS_SERVER_PATH ??= await findRedis();

  // Temporal's garbage collector would otherwise take half of its time. It collects more often once it nears the limit.
  process.env.GOGC ??= '1000';
  process.env.GOMEMLIMIT ??= '1500MiB';

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
        // The server runs to the end of the test run and is never restarted.
        isKept: false,
      });
      engines.push(temporal);
      return temporal.address;
    }),
  ]);
}

/** Uses a given server and leaves it alone, or starts one. */
async function provide(variable, start) {
  process.env[variable] ??= await start();
}
