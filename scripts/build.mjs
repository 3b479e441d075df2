// Builds the product into dist/: `npm run build`, and at the beginning of every other command.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPage } from './build/build-page.mjs';
import { bundleWorkflows } from './build/bundle-workflows.mjs';
import { transformSources } from './build/transform-sources.mjs';
import { withLock } from './system/file-lock.mjs';
import { withProgress } from './system/progress.mjs';
import { isMain, projectRoot } from './system/project.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';
import { runMain, UserError } from './system/user-error.mjs';

/**
 * Makes what has changed. API and worker may be started at the same moment, and both build first:
 * the lock lets one of them work and the other find everything done.
 */
export async function build({ root = projectRoot, types = false } = {}) {
  const dist = join(root, 'dist');
  await withLock(join(dist, '.build.lock'), async () => {
    const toolVersions = lockFileDigest(root);
    // All parts are finished before the lock goes, also when one of them fails.
    const parts = await Promise.allSettled([
      transformSources(root, dist, toolVersions),
      bundleWorkflows(root, dist, toolVersions),
      buildPage(root, dist, toolVersions),
    ]);
    const failed = parts.find((part) => part.status === 'rejected');
    if (failed) throw failed.reason;
    if (types) await emitDeclarations(root);
  });
}

/** Bundles contain code of packages, so another set of packages means another bundle. */
function lockFileDigest(root) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

async function emitDeclarations(root) {
  const args = ['node_modules/@typescript/native/bin/tsc', '-p', 'tsconfig.build.json'];
  const { code, stdout } = await runCommand(process.execPath, args, { cwd: root });
  if (code !== 0) throw new UserError(`tsc found errors:\n${lastLines(stdout, 40)}`);
}

/**
 * The build as a first step of another command: in a process of its own, because the compilers
 * would stay in the memory of one that runs for days.
 */
export function buildFirst() {
  return withProgress('Building', async () => {
    const args = [fileURLToPath(import.meta.url), '--quiet'];
    const { code, stderr } = await runCommand(process.execPath, args, { cwd: projectRoot });
    if (code !== 0) throw new UserError(stderr.trim());
  });
}

if (isMain(import.meta.url)) {
  const work = () => build({ types: process.argv.includes('--types') });
  const quiet = process.argv.includes('--quiet');
  await runMain(() => (quiet ? work() : withProgress('Building', work)));
}
