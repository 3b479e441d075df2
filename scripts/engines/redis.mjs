// Finds a Redis server program.
import { findOnPath } from '../system/find-on-path.mjs';
import { withProgress } from '../system/progress.mjs';
import { runCommand } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { canInstallWithApt, installWithApt } from './apt.mjs';

// Sharded publish, which carries the live chunks, came with 7.
const OLDEST_MAJOR = 7;
const NAMES = ['redis-server', 'valkey-server'];
const HOW_TO_GET_IT =
  'Install Redis 7 or newer (Debian: apt-get install redis-server; macOS: brew install redis), ' +
  'or set REDIS_URL to a server that is running.';

/** `install` and `canInstall` are parameters so that tests can leave the machine as it is. */
export async function findRedis({
  env = process.env,
  canInstall = canInstallWithApt,
  install = installRedis,
} = {}) {
  if (env.REDIS_SERVER_PATH) {
    if (await isRecentEnough(env.REDIS_SERVER_PATH)) return env.REDIS_SERVER_PATH;
    throw new UserError(
      `REDIS_SERVER_PATH is ${env.REDIS_SERVER_PATH}, but that is not a Redis server 7 or newer.`,
    );
  }
  const found = await onPath(env);
  if (found) return found;
  if (!canInstall(env)) throw new UserError(`No Redis server was found. ${HOW_TO_GET_IT}`);

  try {
    await withProgress('Installing Redis with apt', install);
  } catch (error) {
    throw new UserError(`Redis could not be installed (${error.message}). ${HOW_TO_GET_IT}`);
  }
  const installed = await onPath(env);
  if (installed) return installed;
  throw new UserError(`This system's package of Redis is too old. ${HOW_TO_GET_IT}`);
}

async function onPath(env) {
  for (const name of NAMES) {
    const candidate = findOnPath([name], env);
    if (candidate && (await isRecentEnough(candidate))) return candidate;
  }
  return undefined;
}

async function isRecentEnough(path) {
  const { code, stdout } = await runCommand(path, ['--version'], { timeoutMs: 10_000 });
  const major = /\bv=(\d+)\./.exec(stdout)?.[1];
  return code === 0 && Number(major) >= OLDEST_MAJOR;
}

async function installRedis() {
  await installWithApt(['redis-server']);
  // The package also enables a service at boot, which is not wanted here.
  if (findOnPath(['systemctl'])) await runCommand('systemctl', ['disable', 'redis-server']);
}
