// `npm test` and `npm run test:long`: everything that the tests need, then the tests of one lane.
// Arguments are jest's; with a path among them the files that it names run, whatever their lane.
// `--minutes N`: files that have not begun within N minutes are skipped, and named.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFirst } from './build.mjs';
import { testEnvironment } from './engines/test-environment.mjs';
import { installPackages } from './install.mjs';
import { projectRoot } from './system/project.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { runMain, UserError } from './system/user-error.mjs';
import { begunAfter, countTests, readFiles, tryAgain } from './test-files.mjs';
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
  const { lane, args, minutes } = readArguments(process.argv.slice(2));
  await installPackages();
  await buildFirst();
  const env = { ...process.env, ...(await testEnvironment()) };

  const folder = mkdtempSync(join(tmpdir(), 'helix-test-report-'));
  try {
    const deadline = minutes === undefined ? undefined : Date.now() + minutes * 60_000;
    let runs = 0;
    const runJest = async (options) => {
      const report = join(folder, `report-${++runs}.json`);
      const isFirst = runs === 1;
      const code = await runInForeground(
        process.execPath,
        [...JEST, '--json', `--outputFile=${report}`, ...options],
        {
          cwd: projectRoot,
          env: { ...env, ...(isFirst && deadline && { TESTS_BEGIN_UNTIL: String(deadline) }) },
          // With --json jest prints the report to stdout as well; people read what is on stderr.
          stdio: ['inherit', 'ignore', 'inherit'],
        },
      );
      const files = readFiles(report);
      if (isFirst && deadline !== undefined) {
        for (const name of begunAfter(files, deadline)) {
          process.stdout.write(`not run, for want of time: ${name}\n`);
        }
      }
      return { code, files };
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

function readArguments(given) {
  const args = given.filter((argument) => argument !== '--long');
  const isLong = args.length < given.length;
  const at = args.indexOf('--minutes');
  const [, minutes] = at < 0 ? [] : args.splice(at, 2);
  if (at >= 0 && !(Number(minutes) > 0)) throw new UserError('--minutes must be a number above 0.');
  const isPath = (argument, n) => !argument.startsWith('-') && !VALUED.includes(args[n - 1]);
  const lane = args.some(isPath) ? [] : jestPatternsOf(isLong ? 'long' : 'first');
  return { lane, args, minutes: minutes && Number(minutes) };
}
