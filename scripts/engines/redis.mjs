// Finds and runs a Redis server.
import { connect } from 'node:net';
import { withProgress } from '../system/progress.mjs';
import { UserError } from '../system/project.mjs';
import { findOnPath, flagsOf, runCommand } from '../system/run-command.mjs';
import { canInstallWithApt, installWithApt } from './apt.mjs';

const OLDEST = 6.2;
const NAMES = ['redis-server', 'valkey-server'];
const HOW_TO_GET_IT =
  'Install Redis 6.2 or newer (Debian: apt-get install redis-server; macOS: brew install redis), ' +
  'or set REDIS_URL to a server that is running.';

/** `install` and `canInstall` are parameters so that tests do not change the machine. */
export async function findRedis({
  env = process.env,
  canInstall = canInstallWithApt,
  install = installRedis,
} = {}) {
  if (env.REDIS_SERVER_PATH) {
    if (await isRecentEnough(env.REDIS_SERVER_PATH)) return env.REDIS_SERVER_PATH;
    throw new UserError(
      `REDIS_SERVER_PATH is ${env.REDIS_SERVER_PATH}, but that is not a Redis server 6.2 or newer.`,
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
  const version = /\bv=(\d+\.\d+)/.exec(stdout)?.[1];
  return code === 0 && Number(version) >= OLDEST;
}

async function installRedis() {
  await installWithApt(['redis-server']);
  // The package also enables an unwanted service at boot.
  if (findOnPath(['systemctl'])) await runCommand('systemctl', ['disable', 'redis-server']);
}

/** Resolves to true if the Redis on this port has loaded its data and answers. Never throws. */
export function answersPing(port, host = '127.0.0.1', { timeoutMs = 1000 } = {}) {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const finish = (answer) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish(false), timeoutMs);
    socket.on('error', () => finish(false));
    socket.on('close', () => finish(false));
    socket.on('connect', () => socket.write('PING\r\n'));
    // Redis answers -LOADING while it reads its file.
    socket.on('data', (reply) => finish(reply.toString().startsWith('+PONG')));
  });
}

/**
 * Returns the arguments shared by `npm start`, tests and measurements, with more settings of redis.conf.
 * Append-only file on, because Redis is the record of every conversation; snapshots off, because one durable
 * file is enough; no eviction, because a lost key is a lost message.
 */
export function redisArguments({ port, folder, ...settings }) {
  return flagsOf({
    bind: '127.0.0.1',
    port,
    dir: folder,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
    daemonize: 'no',
    loglevel: 'notice',
    ...settings,
  });
}

export function isRedisReady({ port }) {
  return answersPing(port);
}
