// `npm test` and `npm run test:long`: everything that the tests need, then the tests of one lane.
// Arguments are jest's; with a path among them the files that it names run, whatever their lane.
import { buildFirst } from './build.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { projectRoot } from './system/project.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain } from './system/user-error.mjs';
import { jestPatternsOf } from './test-lanes.mjs';

/** Options of jest that take the next argument as their value. */
const VALUED = [
  '-t',
  '--testNamePattern',
  '-w',
  '--maxWorkers',
  '--shard',
  '--seed',
  '--testTimeout',
];

await runMain(async () => {
  const { lane, args } = readArguments(process.argv.slice(2));
  await installPackages();
  await buildFirst();
  const env = { ...process.env, ...(await testEnvironment()) };
  process.exitCode = await runInForeground(
    process.execPath,
    ['node_modules/jest/bin/jest.js', ...lane, ...args],
    { cwd: projectRoot, env },
  );
});

function readArguments(given) {
  const args = given.filter((argument) => argument !== '--long');
  const isLong = args.length < given.length;
  const isPath = (argument, n) => !argument.startsWith('-') && !VALUED.includes(args[n - 1]);
  return { lane: args.some(isPath) ? [] : jestPatternsOf(isLong ? 'long' : 'first'), args };
}
