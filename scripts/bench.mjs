// `npm run bench`: measures on real engines and prints tables. Arguments are passed to the measurement.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { startPrivateRedis, startPrivateTemporal } from './engines/private-engines.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { projectRoot } from './system/project.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain, UserError } from './system/user-error.mjs';

await runMain(async () => {
  await installPackages();
  await buildFirst();
  const main = join(projectRoot, 'dist', 'bench', 'main.js');
  if (!existsSync(main)) throw new UserError('There is no bench/main.ts to run.');
  const programs = await testEnvironment({ withBrowser: false });
  const [redis, temporal] = await Promise.all([
    startPrivateRedis({ file: programs.REDIS_SERVER_PATH }),
    startPrivateTemporal({ file: programs.TEMPORAL_CLI_PATH }),
  ]);
  const env = {
    TEST_REDIS_URL: redis.url,
    TEST_TEMPORAL_ADDRESS: temporal.address,
    ...process.env,
    ...programs,
  };
  try {
    const args = ['--max-semi-space-size=64', main, ...process.argv.slice(2)];
    process.exitCode = await runInForeground(process.execPath, args, { cwd: projectRoot, env });
  } finally {
    await Promise.all([redis.close(), temporal.close()]);
  }
});
