// `npm run verify`: runs every check except the tests. After a failure nothing else begins.
import { installPackages } from './install.mjs';
import { isMain, projectRoot, runMain } from './system/project.mjs';
import { runCommand } from './system/run-command.mjs';

/** The rows run in parallel. One row has everything that builds into `dist`; the other starts with the cheapest. */
const ROWS = [
  ['types', 'examples', 'package', 'rehearse-install'],
  ['boundaries', 'unused', 'links', 'check:compose', 'format:check', 'lint'],
];

/**
 * Runs npm scripts: serially within a row, the rows in parallel. Prints each one's output in one piece when
 * it ends. After a failure no further script begins.
 *
 * @returns the names of the scripts that passed, and of those that failed
 */
export async function runRows(rows, { run = runScript, say = print } = {}) {
  const passed = [];
  const failed = [];
  const runRow = async (row) => {
    for (const name of row) {
      if (failed.length > 0) return;
      const from = performance.now();
      const { code, output } = await run(name);
      say(`\n── ${name}, ${String(Math.round((performance.now() - from) / 1000))} s\n${output}`);
      (code === 0 ? passed : failed).push(name);
    }
  };
  await Promise.all(rows.map(runRow));
  return { passed, failed };
}

async function runScript(name) {
  let output = '';
  const onLine = (text) => (output += text);
  const { code, stderr } = await runCommand('npm', ['run', '-s', name], {
    cwd: projectRoot,
    onLine,
  });
  // A program that did not start has an error text but no output.
  return { code, output: code === undefined ? `${output}${stderr}\n` : output };
}

function print(text) {
  process.stdout.write(text);
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    await installPackages();
    const { passed, failed } = await runRows(ROWS);
    const isBroken = failed.length > 0;
    if (isBroken) process.exitCode = 1;
    const names = (isBroken ? failed : passed).join(', ');
    process.stdout.write(`\nverify: ${names} ${isBroken ? 'failed' : 'passed'}\n`);
  });
}
