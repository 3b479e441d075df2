/**
 * Runs npm scripts in rows: those of a row one after the other, the rows beside each other. What each
 * one prints is shown in one piece, under its name, when it ends. After a failure no further one begins.
 */
import { projectRoot } from './project.mjs';
import { runCommand } from './run-command.mjs';

/** Returns the names of the scripts that passed, and of those that failed. */
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
