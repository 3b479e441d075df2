// Installs the npm packages if they are missing or not the ones that the lock file names.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './system/file-lock.mjs';
import { withProgress } from './system/progress.mjs';
import { isMain, projectRoot } from './system/project.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';
import { runMain, UserError } from './system/user-error.mjs';

export async function installPackages(root = projectRoot) {
  if (isInstalled(root)) return;
  await withLock(join(root, 'dist', '.install.lock'), async () => {
    if (!isInstalled(root)) await withProgress('Installing packages with npm', () => npmCi(root));
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

async function npmCi(root) {
  // Under `npm start` the same npm is used that was called; it may not be the one on PATH.
  const script = process.env.npm_execpath;
  const [file, before] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
  const { code, stderr, stdout } = await runCommand(file, [...before, 'ci', '--include=dev'], {
    cwd: root,
  });
  if (code !== 0) throw new UserError(`npm ci failed:\n${lastLines(stderr || stdout)}`);
}

if (isMain(import.meta.url)) await runMain(() => installPackages());
