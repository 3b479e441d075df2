// Finds a program that Go builds from its modules: on the PATH, in the cache, or built once.
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { withLock } from '../system/file-lock.mjs';
import { findOnPath } from '../system/find-on-path.mjs';
import { withProgress } from '../system/progress.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';
import { cacheFolder } from './cache-folder.mjs';

const LONGEST_MS = 1_800_000;

/** `{ path }` of the program, or `{ reason }` why this machine cannot have it. */
export async function findGoProgram({ name, module, version }, env = process.env) {
  const folder = join(cacheFolder(env), `${name}-${version}`);
  const found = () => findOnPath([name], env) ?? findOnPath([name], { PATH: folder });
  if (found()) return { path: found() };
  const go = findOnPath(['go'], env);
  if (!go) return { reason: `neither ${name} nor Go, which could build it, is on the PATH` };
  mkdirSync(dirname(folder), { recursive: true });
  return withLock(`${folder}.lock`, async () => {
    if (found()) return { path: found() };
    const { code, stderr } = await withProgress(`Building ${name} from Go modules, once`, () =>
      runCommand(go, ['install', '-trimpath', '-ldflags', '-s -w', `${module}@${version}`], {
        env: { ...env, GOBIN: folder, CGO_ENABLED: '0' },
        timeoutMs: LONGEST_MS,
      }),
    );
    // Go names it after the last folder of the module.
    const made = join(folder, basename(module));
    if (existsSync(made)) renameSync(made, join(folder, name));
    const built = code === 0 && found();
    return built ? { path: built } : { reason: `${name} was not built: ${lastLines(stderr, 3)}` };
  });
}
