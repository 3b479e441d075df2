// The demo page, bundled by Vite into dist/web, which the API serves.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { importClosure } from './import-closure.mjs';
import { fingerprint, listFiles } from './sources.mjs';
import { readStamp, writeStamp } from './stamp.mjs';

const PART = 'page';
const CONFIG = 'web/vite.config.ts';
const VITE = 'node_modules/vite/bin/vite.js';

/** Returns whether the page was built. */
export async function buildPage(root, dist, toolVersions) {
  if (!existsSync(join(root, CONFIG))) return false;
  const made = fingerprint(root, importClosure(root, listFiles(root, 'web')), toolVersions);
  const output = join(dist, 'web');
  if (readStamp(dist, PART) === made && existsSync(join(output, 'console.html'))) return false;

  // Built beside and swapped in: an API that runs meanwhile never serves half a page.
  const fresh = join(dist, `.web-${process.pid}`);
  const args = [VITE, 'build', '--config', CONFIG, '--outDir', fresh, '--emptyOutDir'];
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
  writeStamp(dist, PART, made);
  return true;
}
