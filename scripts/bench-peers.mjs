// `npm run bench:peers`: gives the same work to this product and to its peers, on the same engines,
// and prints a table. Peers are installed once, outside the clone, in the versions named beside
// their programs.
import { join } from 'node:path';
import { installPeers } from './bench/install-peers.mjs';
import { buildFirst } from './build.mjs';
import { startPrivateRedis, startPrivateTemporal } from './engines/private-engines.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { projectRoot } from './system/project.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain } from './system/user-error.mjs';

await runMain(async () => {
  await installPackages();
  await buildFirst();
  const peers = await installPeers();
  const programs = await testEnvironment({ withBrowser: false });
  const [redis, temporal] = await Promise.all([
    startPrivateRedis({ file: programs.REDIS_SERVER_PATH }),
    startPrivateTemporal({ file: programs.TEMPORAL_CLI_PATH }),
  ]);
  const env = {
    ...process.env,
    ...programs,
    TEST_REDIS_URL: redis.url,
    TEST_TEMPORAL_ADDRESS: temporal.address,
    PEERS_FOLDER: peers,
  };
  try {
    const main = join(projectRoot, 'dist', 'bench', 'peers', 'main.js');
    const args = ['--max-semi-space-size=64', main, ...process.argv.slice(2)];
    process.exitCode = await runInForeground(process.execPath, args, { cwd: projectRoot, env });
  } finally {
    await Promise.all([redis.close(), temporal.close()]);
  }
});
