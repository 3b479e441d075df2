// Builds the product into dist/: `npm run build`, and at the beginning of every other command.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importClosure } from './build/import-closure.mjs';
import {
  fingerprint,
  listFiles,
  listSources,
  readStamp,
  swcOptions,
  writeStamp,
} from './build/sources.mjs';
import { withLock } from './system/file-lock.mjs';
import { writeAtomically } from './system/files.mjs';
import { withProgress } from './system/progress.mjs';
import { isMain, projectRoot, runMain, UserError } from './system/project.mjs';
import { lastLines, runCommand } from './system/run-command.mjs';

const ENTRY_OF_WORKFLOWS = 'extensions/workflows.ts';
/** The worker loads exactly this file. */
const BUNDLE = 'workflows/bundle.js';
const PAGE_CONFIG = 'web/vite.config.ts';
const VITE = 'node_modules/vite/bin/vite.js';

/**
 * Rebuilds the parts that have changed. API and worker may start at the same moment and both build first: the
 * lock lets one work, and the other finds everything done.
 */
export async function build({ root = projectRoot, types = false } = {}) {
  const dist = join(root, 'dist');
  await withLock(join(dist, '.build.lock'), async () => {
    const toolVersions = lockFileDigest(root);
    // The lock is released only after all parts end, even if one fails.
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

/** Bundles contain code of packages, so other packages need another bundle. */
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

/** Builds in a child process, because the compilers would stay in the memory of a command that runs for days. */
export function buildFirst() {
  return withProgress('Building', async () => {
    const args = [fileURLToPath(import.meta.url), '--quiet'];
    const { code, stderr } = await runCommand(process.execPath, args, { cwd: projectRoot });
    if (code !== 0) throw new UserError(stderr.trim());
  });
}

/** Strips the types file by file, without checking them (`npm run types` does that). */
async function transformSources(root, dist, toolVersions) {
  const before = readStamp(dist, 'sources') ?? {};
  const after = {};
  const changed = [];
  for (const file of listSources(root)) {
    after[file] = fingerprint(root, [file], swcOptions(file), toolVersions);
    if (before[file] !== after[file] || !existsSync(join(dist, outputOf(file)))) changed.push(file);
  }
  const gone = Object.keys(before).filter((file) => !(file in after));
  if (changed.length === 0 && gone.length === 0) return;

  // Loaded late, so that a start with nothing to build stays fast.
  const swc = changed.length > 0 ? await import('@swc/core') : undefined;
  await Promise.all(changed.map((file) => writeOutput(swc, root, dist, file)));
  for (const file of gone) {
    rmSync(join(dist, outputOf(file)), { force: true });
  }
  writeStamp(dist, 'sources', after);
}

async function writeOutput(swc, root, dist, file) {
  const source = readFileSync(join(root, file), 'utf8');
  const output = join(dist, outputOf(file));
  const { code } = await swc
    .transform(source, { ...swcOptions(file), filename: join(root, file) })
    .catch((error) => {
      // The compiler's own stack follows the code frame.
      const [picture] = error.message.split('Caused by:');
      throw new UserError(`${file} cannot be compiled:\n${picture.trim()}`);
    });
  writeAtomically(output, code);
}

function outputOf(file) {
  return file.replace(/\.tsx?$/, '.js');
}

/** Bundles all workflow code ahead of time; a worker that bundles at each start takes a second or two longer. */
async function bundleWorkflows(root, dist, toolVersions) {
  if (!existsSync(join(root, ENTRY_OF_WORKFLOWS))) return;
  const made = fingerprint(root, importClosure(root, [ENTRY_OF_WORKFLOWS]), toolVersions);
  if (readStamp(dist, 'workflows') === made && existsSync(join(dist, BUNDLE))) return;

  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, ENTRY_OF_WORKFLOWS),
    logger: new DefaultLogger('WARN'),
  });
  writeAtomically(join(dist, BUNDLE), code);
  writeStamp(dist, 'workflows', made);
}

/** Bundles the pages with Vite into dist/web, which the API serves. */
async function buildPage(root, dist, toolVersions) {
  if (!existsSync(join(root, PAGE_CONFIG))) return;
  const made = fingerprint(root, importClosure(root, listFiles(root, 'web')), toolVersions);
  const output = join(dist, 'web');
  if (readStamp(dist, 'page') === made && existsSync(join(output, 'console.html'))) return;

  // Built elsewhere and swapped in, so that a running API never serves half a page.
  const fresh = join(dist, `.web-${process.pid}`);
  const args = [VITE, 'build', '--config', PAGE_CONFIG, '--outDir', fresh, '--emptyOutDir'];
  const { code, stdout, stderr } = await runCommand(process.execPath, args, {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (code !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    throw new UserError(`vite build failed:\n${lastLines(stderr || stdout, 30)}`);
  }
  const old = join(dist, `.web-old-${process.pid}`);
  if (existsSync(output)) renameSync(output, old);
  renameSync(fresh, output);
  rmSync(old, { recursive: true, force: true });
  writeStamp(dist, 'page', made);
}

if (isMain(import.meta.url)) {
  const work = () => build({ types: process.argv.includes('--types') });
  const quiet = process.argv.includes('--quiet');
  await runMain(() => (quiet ? work() : withProgress('Building', work)));
}
