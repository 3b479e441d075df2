// Installs the npm packages if they are missing or not the ones that the lock file names.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './system/file-lock.mjs';
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
 * Compares npm's own record of what it installed with the lock file. Neither file's age says
 * anything: a checkout touches the one, and any npm command the other.
 */
export function isInstalled(root) {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted || !installed) return false;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || installed[path]?.version === version || (optional && !installed[path]),
  );
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/**
 * `npm ci` wants the optional packages of every system in the lock file and refuses one from a
 * registry that did not have them all; `npm install` then takes what this system needs, in the
 * versions of the lock file, and leaves that file as it is.
 */
async function installWithNpm(root) {
  let outcome = await npm(root, ['ci', '--include=dev']);
  if (outcome.stderr.includes('from lock file')) {
    outcome = await npm(root, ['install', '--no-save', '--include=dev']);
  }
  if (outcome.code !== 0) throw new UserError(`npm failed:\n${errorLines(outcome)}`);
}

function npm(root, args) {
  // Under `npm start` the same npm is used that was called; it may not be the one on PATH.
  const script = process.env.npm_execpath;
  const [file, before] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
  // Under `npm run --silent` npm would not say why it fails.
  return runCommand(file, [...before, ...args, '--loglevel=error'], { cwd: root });
}

/** What went wrong stands before npm's usage text, so the last lines would not show it. */
function errorLines({ stderr, stdout }) {
  const errors = stderr.split('\n').filter((line) => line.startsWith('npm error'));
  return errors.length > 0 ? errors.slice(0, 12).join('\n') : lastLines(stderr || stdout);
}

if (isMain(import.meta.url)) await runMain(() => installPackages());
