// `npm test` and `npm run test:long`: everything that the tests need, then the tests of one lane.
// Arguments are jest's; with a path among them the files that it names run, whatever their lane.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { projectRoot } from './system/project.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain } from './system/user-error.mjs';
import { countTests, readFiles, tryAgain } from './test-files.mjs';
import { jestPatternsOf } from './test-lanes.mjs';

const JEST = [
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];

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
  const [lane, args] = laneAndArguments(process.argv.slice(2));
  await installPackages();
  await buildFirst();
  const env = { ...process.env, ...(await testEnvironment()) };

  const folder = mkdtempSync(join(tmpdir(), 'helix-test-report-'));
  try {
    let runs = 0;
    const runJest = async (options) => {
      const report = join(folder, `report-${++runs}.json`);
      const code = await runInForeground(
        process.execPath,
        [...JEST, '--json', `--outputFile=${report}`, ...options],
        {
          cwd: projectRoot,
          env,
          // With --json jest prints the report to stdout as well; people read what is on stderr.
          stdio: ['inherit', 'ignore', 'inherit'],
        },
      );
      return { code, files: readFiles(report) };
    };
    const first = await runJest([...lane, ...args]);
    const { code, files } =
      lane.length === 0
        ? first
        : await tryAgain(first, (options) => runJest([...options, ...args]));
    const { passed, failed, skipped } = countTests(files);
    const closing = `${passed} passed, ${failed} failed`;
    process.stdout.write(`${closing}${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
    process.exitCode = code === 0 && failed === 0 && passed > 0 ? 0 : code || 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function laneAndArguments(given) {
  const args = given.filter((argument) => argument !== '--long');
  const isPath = (argument, at) => !argument.startsWith('-') && !VALUED.includes(args[at - 1]);
  if (args.some(isPath)) return [[], args];
  return [jestPatternsOf(args.length < given.length ? 'long' : 'first'), args];
}
