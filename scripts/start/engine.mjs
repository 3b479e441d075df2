// One engine (Temporal or Redis): started, waited for, kept alive, and stopped.
import {
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  mkdirSync,
  writeFileSync,
} from 'node:fs';
import { join, dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identityOf, isSameProcess } from '../system/process-identity.mjs';
import { lastLines } from '../system/run-command.mjs';
import { UserError } from '../system/user-error.mjs';
import { startChildProcess } from './child-process.mjs';
import { withPrivateFiles } from './private-folder.mjs';
import { environmentOfEngine } from './secrets.mjs';
import { supervise } from './supervisor.mjs';
import { waitUntil } from './wait-until.mjs';
import { watchOver } from './watchdog.mjs';

const READY_WITHIN_MS = 30_000;
const LOG_LIMIT_BYTES = 10_000_000;

/**
 * Resolves when the engine itself says that it is ready. It joins the fleet before that, so that
 * a stop in between finds it.
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
      // A death before it was ever ready means a wrong setup: no second try.
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
  throw new UserError(`${name} ${why}. The end of ${logFile}:\n${tail(logFile)}`);
}

function startOnce({ file, args, dataDir, pidFile, logFile }) {
  const engine = withPrivateFiles(() => {
    const log = openSync(logFile, 'a');
    const env = environmentOfEngine(process.env);
    const started = startChildProcess(file, args, {
      cwd: dataDir,
      env,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    return started;
  });
  if (engine.pid === undefined) return engine;
  writePidFile(pidFile, engine.pid);
  const callOff = watchOver(engine.pid);
  void engine.exited.then(() => {
    callOff();
    removePidFile(pidFile);
  });
  return engine;
}

/** Old lines of a log this large have no use, and nothing else would ever remove it. */
function dropLargeLog(path) {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT_BYTES) rmSync(path);
}

function tail(path) {
  return lastLines(readFileSync(path, 'utf8'), 8);
}

// Remembers an engine on disk, so that one which outlived its supervisor is found and stopped: two
// servers on one data folder would destroy it.

const GRACE_MS = 10_000;

const POLL_MS = 50;

export function writePidFile(path, pid) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(identityOf(pid)));
}

function removePidFile(path) {
  rmSync(path, { force: true });
}

/** Stops the process of this file if its id was not reused. Returns whether it ran. */
export async function stopLeftOver(path) {
  const left = read(path);
  if (!left || !isSameProcess(left)) {
    removePidFile(path);
    return false;
  }
  process.kill(left.pid, 'SIGTERM');
  const deadline = Date.now() + GRACE_MS;
  while (isSameProcess(left)) {
    if (Date.now() > deadline) process.kill(left.pid, 'SIGKILL');
    await delay(POLL_MS);
  }
  removePidFile(path);
  return true;
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
