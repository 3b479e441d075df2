// Finds a Go program on the PATH or in the cache, or builds it once from its modules.
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withLock } from '../system/file-lock.mjs';
import { withProgress } from '../system/progress.mjs';
import { cacheFolder } from '../system/project.mjs';
import { findOnPath, lastLines, runCommand } from '../system/run-command.mjs';

const MAX_MS = 1_800_000;

/**
 * @param program.folder the only place to look and build in, if given
 * @param program.build builds the program into the folder if `go install` cannot
 * @returns `{ path }` of the program, or `{ reason }` why this machine cannot have it
 */
export async function findGoProgram(program, env = process.env) {
  const { name, version, build = install } = program;
  const folder = program.folder ?? join(cacheFolder(env), `${name}-${version}`);
  const inFolder = () => findOnPath([name], { PATH: folder });
  const found = () => (program.folder ? undefined : findOnPath([name], env)) ?? inFolder();
  if (found()) return { path: found() };
  const go = findOnPath(['go'], env);
  if (!go) return { reason: `neither ${name} nor Go, which could build it, was found` };
  mkdirSync(folder, { recursive: true });
  return withLock(`${folder}.lock`, async () => {
    if (found()) return { path: found() };
    const { code, stderr } = await withProgress(`Building ${name} from Go modules, once`, () =>
      build(go, { ...program, folder }, env),
    );
    const built = code === 0 && found();
    return built ? { path: built } : { reason: `${name} was not built: ${lastLines(stderr, 3)}` };
  });
}

async function install(go, { name, module, version, folder }, env) {
  const flags = ['-trimpath', '-ldflags', '-s -w'];
  const outcome = await runCommand(go, ['install', ...flags, `${module}@${version}`], {
    env: { ...env, GOBIN: folder, CGO_ENABLED: '0' },
    timeoutMs: MAX_MS,
  });
  // Go names the program after the module's last folder.
  const made = join(folder, basename(module));
  if (existsSync(made)) renameSync(made, join(folder, name));
  return outcome;
}
