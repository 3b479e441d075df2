// Finds Prometheus and promtool, which check the alerts: on the PATH, in the cache, or in Debian's package,
// which is unpacked there without installation.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { provideFolder } from '../system/file-lock.mjs';
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
  try {
    await provideFolder(folder, unpackInto);
  } catch (error) {
    process.stderr.write(`Prometheus: ${error.message}\n`);
  }
  return inCache();
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

async function unpackInto(folder) {
  const download = () => runCommand('apt-get', ['download', '-q', 'prometheus'], { cwd: folder });
  let outcome = await download();
  if (outcome.code !== 0) {
    await runCommand('apt-get', ['update', '-q']);
    outcome = await download();
  }
  const [file] = readdirSync(folder);
  if (outcome.code !== 0 || !file) throw new Error(lastLines(outcome.stderr, 2));
  const { code, stderr } = await runCommand('dpkg', ['-x', join(folder, file), folder]);
  if (code !== 0) throw new Error(lastLines(stderr, 2));
  rmSync(join(folder, file));
}
