// Finds the programs of a Temporal server of several roles: `temporal-server` and `temporal-sql-tool`.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withLock } from '../system/file-lock.mjs';
import { findOnPath } from '../system/find-on-path.mjs';
import { withProgress } from '../system/progress.mjs';
import { runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { cacheFolder } from './cache-folder.mjs';
import { buildTemporalServer } from './temporal/build-server.mjs';

/** The server that tools/temporal-cli pins. */
const VERSION = '1.31.2';

/**
 * On the PATH, in the cache, or built from Go modules once.
 *
 * @returns the paths of both programs
 */
export async function findTemporalPrograms({
  env = process.env,
  build = buildTemporalServer,
} = {}) {
  const found = await programsIn((name) => findOnPath([name], env));
  if (found) return found;
  const key = `temporal-server-${VERSION}-${process.platform}-${process.arch}`;
  const folder = join(cacheFolder(env), key);
  const inCache = () => programsIn((name) => join(folder, name));
  const cached = await inCache();
  if (cached) return cached;
  mkdirSync(dirname(folder), { recursive: true });
  return withLock(`${folder}.lock`, async () => {
    const filled = await inCache();
    if (filled) return filled;
    const label = 'Building the Temporal server from Go modules, once, a few minutes';
    const reason = await withProgress(label, (progress) =>
      build({ target: folder, progress, env }),
    ).catch(({ message }) => message);
    const built = await inCache();
    if (built) return built;
    throw new UserError(
      `No temporal-server was found, and none could be made (${reason ?? 'it does not run'}). ` +
        'Install Go, or put temporal-server and temporal-sql-tool of a release on the PATH.',
    );
  });
}

async function programsIn(pathOf) {
  const [server, sqlTool] = [pathOf('temporal-server'), pathOf('temporal-sql-tool')];
  for (const path of [server, sqlTool]) {
    if (!path) return undefined;
    const { code } = await runCommand(path, ['--version'], { timeoutMs: 10_000 });
    if (code !== 0) return undefined;
  }
  return { server, sqlTool };
}
