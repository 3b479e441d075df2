// Finds the Temporal dev server: the `temporal` command line with its `server start-dev`.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withLock } from '../system/file-lock.mjs';
import { findOnPath } from '../system/find-on-path.mjs';
import { withProgress } from '../system/progress.mjs';
import { runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { cacheFolder } from './cache-folder.mjs';
import { buildTemporal } from './temporal/build.mjs';
import { downloadTemporal } from './temporal/download.mjs';

export const TEMPORAL_CLI_VERSION = '1.8.2';

/**
 * Looks where it is cheapest first; the last two places take seconds and minutes, once per machine.
 * `download` and `build` are parameters so that the order can be tested without network or Go.
 */
export async function findTemporal({
  env = process.env,
  download = downloadTemporal,
  build = buildTemporal,
} = {}) {
  if (env.TEMPORAL_CLI_PATH) {
    if (await isTemporal(env.TEMPORAL_CLI_PATH)) return env.TEMPORAL_CLI_PATH;
    throw new UserError(
      `TEMPORAL_CLI_PATH is ${env.TEMPORAL_CLI_PATH}, but that is not a working temporal command.`,
    );
  }
  const onPath = findOnPath(['temporal'], env);
  if (onPath && (await isTemporal(onPath))) return onPath;

  const cached = cachedTemporalPath(env);
  if (await isTemporal(cached)) return cached;
  return fillCache(cached, { env, download, build });
}

export function cachedTemporalPath(env = process.env) {
  const key = `temporal-cli-${TEMPORAL_CLI_VERSION}-${process.platform}-${process.arch}`;
  return join(cacheFolder(env), key, 'temporal');
}

/** One process fills the cache; others that start meanwhile wait and use what it made. */
async function fillCache(target, { env, download, build }) {
  mkdirSync(dirname(target), { recursive: true });
  const onWait = () =>
    process.stderr.write('Another process is fetching the Temporal dev server; waiting for it …\n');
  return withLock(
    `${target}.lock`,
    async () => {
      if (await isTemporal(target)) return target;
      const reasons = [];
      for (const [label, make] of [
        ['Downloading the Temporal dev server', download],
        ['Building the Temporal dev server from Go modules, once, about 4 minutes', build],
      ]) {
        const reason = await attempt(label, (progress) =>
          make({ target, version: TEMPORAL_CLI_VERSION, isTemporal, progress, env }),
        );
        if (reason === undefined) return target;
        reasons.push(reason);
      }
      throw new UserError(
        `No Temporal dev server was found, and none could be made (${reasons.join('; ')}). ` +
          'Install the temporal command (https://docs.temporal.io/cli) or set TEMPORAL_CLI_PATH.',
      );
    },
    { onWait },
  );
}

/** Undefined when it worked, else why it did not: the next way is tried, so nothing is thrown. */
async function attempt(label, make) {
  try {
    await withProgress(label, make);
    return undefined;
  } catch (error) {
    return error.message;
  }
}

async function isTemporal(path) {
  const { code, stdout } = await runCommand(path, ['--version'], { timeoutMs: 10_000 });
  return code === 0 && /temporal version \S+ \(.*server/i.test(stdout);
}
