// `npm run verify`: every check but the tests. After a failure nothing else begins.
import { installPackages } from './install.mjs';
import { isMain, projectRoot, runMain } from './system/project.mjs';
import { runCommand } from './system/run-command.mjs';

/** The rows run beside each other. What builds into `dist` is in one row; the other is cheapest first. */
const ROWS = [
  ['types', 'examples', 'package', 'rehearse-install'],
  ['boundaries', 'unused', 'links', 'check:compose', 'format:check', 'lint'],
];

/**
 * Runs npm scripts in rows: those of a row one after the other, the rows beside each other. What each
 * one prints is shown in one piece, under its name, when it ends. After a failure no further one begins.
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
  // A program that did not start has printed nothing.
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
