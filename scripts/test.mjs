// `npm test`: prepares the tests' needs, then runs them. Passes its arguments to jest.
import { buildFirst } from './build.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { projectRoot, runMain } from './system/project.mjs';
import { runInForeground } from './system/run-command.mjs';

/** Test processes live for seconds, so optimising their code costs more than it saves, except in long loops. */
const OPTIMISE_LATER = '--interrupt-budget=2000000';

/** Young objects of tests die in a larger nursery; the default, from 1 to 16 MB, makes the collector copy them. */
const LARGE_NURSERY = ['--min-semi-space-size=32', '--max-semi-space-size=64'];

await runMain(async () => {
  await installPackages();
  await buildFirst();
  process.exitCode = await runInForeground(
    process.execPath,
    [OPTIMISE_LATER, ...LARGE_NURSERY, 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)],
    { cwd: projectRoot, env: { ...process.env, ...(await testEnvironment()) } },
  );
});
