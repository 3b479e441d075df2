// `npm run soak -- --minutes 30`: conversations of every kind on real engines, while processes, wires
// and Redis fail at random. The closing line is the verdict; see bench/soak/main.ts.
import { join } from 'node:path';
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
  };
  try {
    const main = join(projectRoot, 'dist', 'bench', 'soak', 'main.js');
    const args = [main, ...process.argv.slice(2)];
    process.exitCode = await runInForeground(process.execPath, args, { cwd: projectRoot, env });
  } finally {
    await Promise.all([redis.close(), temporal.close()]);
  }
});
