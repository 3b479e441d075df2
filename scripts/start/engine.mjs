// Starts one engine (Temporal or Redis), waits for it, keeps it alive, and stops it.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readJson } from '../system/files.mjs';
import { identityOf, isSameProcess } from '../system/process-identity.mjs';
import { UserError } from '../system/project.mjs';
import { lastLines } from '../system/run-command.mjs';
import { startServer, supervise } from './child-process.mjs';
import { waitUntil } from './reachable.mjs';
import { environmentOfEngine } from './settings.mjs';

// The data folder holds conversations, so other users must not read it.
const FOLDERS = ['redis', 'logs'];
const FILES = /^temporal\.db/;

/**
 * Creates the folder for this user alone. In an existing folder, which may hold other things, it closes only
 * our files.
 */
export function makePrivateFolder(dataDir) {
  if (!existsSync(dataDir)) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const name of FOLDERS) {
    const folder = join(dataDir, name);
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o700);
  }
  for (const name of readdirSync(dataDir)) {
    if (FILES.test(name)) chmodSync(join(dataDir, name), 0o600);
  }
}

/** Runs a start whose program creates files that only this user can read. */
export function withPrivateFiles(start) {
  const before = process.umask(0o077);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}

const READY_WITHIN_MS = 30_000;
const LOG_LIMIT_BYTES = 10_000_000;

/**
 * Resolves when the engine reports that it is ready. It joins the fleet earlier, so that a stop meanwhile
 * reaches it.
 */
export async function startEngine(spec, { fleet, signal, onDeath }) {
  const { name, isReady, dataDir } = spec;
  const pidFile = join(dataDir, `${name.toLowerCase()}.pid.json`);
  const logFile = join(dataDir, 'logs', `${name.toLowerCase()}.log`);
  dropLargeLog(logFile);
  await stopLeftOver(pidFile);
  signal.throwIfAborted();

  let ready = false;
  let lastDeath;
  const member = supervise(() => startOnce({ ...spec, pidFile, logFile }), {
    onDeath: (death) => {
      lastDeath = death;
      // A death before it was ready means a wrong setup, so there is no retry.
      return ready ? onDeath(name, death) : false;
    },
  });
  fleet.add(member);
  ready = await waitUntil(() => lastDeath !== undefined || isReady(), {
    withinMs: READY_WITHIN_MS,
    signal,
  });
  if (ready && !lastDeath) return;
  const why = lastDeath ? `ended with ${lastDeath.reason}` : 'does not answer';
  const end = lastLines(readFileSync(logFile, 'utf8'), 8);
  throw new UserError(`${name} ${why}. The end of ${logFile}:\n${end}`);
}

function startOnce({ file, args, dataDir, pidFile, logFile }) {
  const options = { cwd: dataDir, env: environmentOfEngine(process.env) };
  const engine = withPrivateFiles(() => startServer(file, args, logFile, options));
  if (engine.pid === undefined) return engine;
  writePidFile(pidFile, engine.pid);
  void engine.exited.then(() => rmSync(pidFile, { force: true }));
  return engine;
}

/** Drops a log of this size, because nothing else would ever remove it. */
function dropLargeLog(path) {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) rmSync(path);
}

// Records an engine on disk, so that one that outlived its supervisor is stopped: two servers on one data
// folder would destroy it.

const GRACE_MS = 10_000;

const POLL_MS = 50;

export function writePidFile(path, pid) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(identityOf(pid)));
}

/** Stops the process of this file if its id was not reused. Returns true if it ran. */
export async function stopLeftOver(path) {
  const left = readJson(path);
  if (!left || !isSameProcess(left)) {
    rmSync(path, { force: true });
    return false;
  }
  process.kill(left.pid, 'SIGTERM');
  const deadline = Date.now() + GRACE_MS;
  while (isSameProcess(left)) {
    if (Date.now() > deadline) process.kill(left.pid, 'SIGKILL');
    await delay(POLL_MS);
  }
  rmSync(path, { force: true });
  return true;
}
