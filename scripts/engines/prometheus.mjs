// Finds Prometheus with its promtool, which check the alerts: on the PATH, in the cache, or in
// Debian's package, which is unpacked there and not installed.
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withLock } from '../system/file-lock.mjs';
import { findOnPath, lastLines, runCommand } from '../system/run-command.mjs';
import { cacheFolder } from '../system/project.mjs';

/** @returns the paths of both programs; undefined if this machine cannot have them */
export async function findPrometheus(env = process.env) {
  const onPath = await programsIn((name) => findOnPath([name], env));
  if (onPath) return onPath;
  const folder = join(cacheFolder(env), `prometheus-debian-${process.arch}`);
  const inCache = () => programsIn((name) => join(folder, 'usr', 'bin', name));
  const cached = await inCache();
  if (cached) return cached;
  if (!findOnPath(['apt-get'], env) || !findOnPath(['dpkg'], env)) return undefined;
  mkdirSync(dirname(folder), { recursive: true });
  return withLock(`${folder}.lock`, async () => {
    const filled = await inCache();
    if (filled) return filled;
    await unpack(folder);
    return inCache();
  });
}

async function programsIn(pathOf) {
  const [prometheus, promtool] = [pathOf('prometheus'), pathOf('promtool')];
  for (const path of [prometheus, promtool]) {
    if (!path || (await runCommand(path, ['--version'], { timeoutMs: 10_000 })).code !== 0) {
      return undefined;
    }
  }
  return { prometheus, promtool };
}

async function unpack(folder) {
  const work = mkdtempSync(`${folder}-`);
  try {
    let outcome = await runCommand('apt-get', ['download', '-q', 'prometheus'], { cwd: work });
    if (outcome.code !== 0) {
      await runCommand('apt-get', ['update', '-q']);
      outcome = await runCommand('apt-get', ['download', '-q', 'prometheus'], { cwd: work });
    }
    const [file] = readdirSync(work);
    if (outcome.code !== 0 || !file) {
      process.stderr.write(`Prometheus: ${lastLines(outcome.stderr, 2)}\n`);
      return;
    }
    const root = join(work, 'root');
    const { code } = await runCommand('dpkg', ['-x', join(work, file), root]);
    if (code !== 0) return;
    rmSync(folder, { recursive: true, force: true });
    renameSync(root, folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
