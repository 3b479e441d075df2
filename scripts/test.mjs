// `npm test`: everything that the tests need, then the tests. Arguments are jest's.
import { buildFirst } from './build.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { projectRoot, runMain } from './system/project.mjs';
import { runInForeground } from './system/run-command.mjs';

/** Processes of tests live for seconds: optimising what they execute costs more than it saves, except in long loops. */
const OPTIMISE_LATER = '--interrupt-budget=2000000';

await runMain(async () => {
  await installPackages();
  await buildFirst();
  process.exitCode = await runInForeground(
    process.execPath,
    [OPTIMISE_LATER, 'node_modules/jest/bin/jest.js', ...process.argv.slice(2)],
    { cwd: projectRoot, env: { ...process.env, ...(await testEnvironment()) } },
  );
});
