// Installs the npm packages if they are missing or differ from the lock file.
import { join } from 'node:path';
import { withLock } from './system/file-lock.mjs';
import { readJson } from './system/files.mjs';
import { withProgress } from './system/progress.mjs';
import { isMain, projectRoot, runMain, UserError } from './system/project.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';

export async function installPackages(root = projectRoot) {
  if (isInstalled(root)) return;
  await withLock(join(root, 'dist', '.install.lock'), async () => {
    if (!isInstalled(root)) await withProgress('Installing packages', () => installWithNpm(root));
  });
}

/**
 * Compares npm's record of its installation with the lock file. File times say nothing: a checkout touches
 * the lock file, any npm command the record.
 */
export function isInstalled(root) {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || installed[path]?.version === version || (optional && !installed[path]),
  );
}

/**
 * `npm ci` requires the optional packages of every system and fails if the registry lacked some; `npm
 * install` then takes those of this system, in the locked versions, without a change to the lock file.
 */
async function installWithNpm(root) {
  let outcome = await npm(root, ['ci', '--include=dev']);
  if (outcome.stderr.includes('from lock file')) {
    outcome = await npm(root, ['install', '--no-save', '--include=dev']);
  }
  if (outcome.code !== 0) throw new UserError(`npm failed:\n${errorLines(outcome)}`);
}

function npm(root, args) {
  // Uses the npm that runs `npm start`, which may not be the one on PATH.
  const script = process.env.npm_execpath;
  const [file, before] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
  // `npm run --silent` would otherwise hide npm's errors. The output is not shown, so an audit would be wasted.
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund'];
  return runCommand(file, [...before, ...args, ...quiet], { cwd: root });
}

/** The error precedes npm's usage text, so the last lines would not show it. */
function errorLines({ stderr, stdout }) {
  const errors = stderr.split('\n').filter((line) => line.startsWith('npm error'));
  return errors.length > 0 ? errors.slice(0, 12).join('\n') : lastLines(stderr || stdout);
}

if (isMain(import.meta.url)) await runMain(() => installPackages());
