import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const GRACE_MS = 10_000;
/** Grace time for a program's own children after its end, and the poll interval. */
const REST_GRACE_MS = 2_000;
const LOOK_MS = 20;

/**
 * Starts a program in its own session: Ctrl-C then reaches only the supervisor, which stops its children one
 * by one. Resolves `exited` even if the program could not start.
 */
export function startChildProcess(file, args, options) {
  const child = spawn(file, args, { detached: true, ...options });
  const exited = new Promise((resolve) => {
    child.once('error', (error) => resolve({ reason: error.message }));
    child.once('exit', (code, signal) => resolve({ reason: signal ?? `exit code ${code}`, code }));
  });
  let gone = false;
  // Programs such as npx may leave their children running.
  void exited.then(() => (gone = !signalGroup(child.pid, 0)));

  return {
    pid: child.pid,
    child,
    exited,
    /** Sends SIGTERM; kills the process if it outlives the grace time. */
    async stop({ graceMs = GRACE_MS } = {}) {
      if (gone) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
      await endRest(child.pid);
    },
    /** Kills immediately, for the second Ctrl-C. */
    kill() {
      if (!gone) signalGroup(child.pid, 'SIGKILL');
    },
  };
}

/** Starts a server with a log file that must not outlive this process. */
export function startServer(file, args, logFile, options) {
  const log = openSync(logFile, 'a');
  const started = startChildProcess(file, args, { ...options, stdio: ['ignore', log, log] });
  closeSync(log);
  if (started.pid === undefined) return started;
  const callOff = watchOver(started.pid);
  void started.exited.then(callOff);
  return started;
}

/** Ends the rest of a group whose first process has ended. */
async function endRest(pid) {
  const until = performance.now() + REST_GRACE_MS;
  let isLeft = signalGroup(pid, 'SIGTERM');
  while (isLeft && performance.now() < until) {
    await delay(LOOK_MS);
    isLeft = signalGroup(pid, 0);
  }
  if (isLeft) signalGroup(pid, 'SIGKILL');
}

/** Signals the whole process group, so that no grandchild survives. Returns false if the group is empty. */
function signalGroup(pid, signal) {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

// Stops an engine if the supervisor itself dies (kill -9, a crash).
/**
 * A shell that reads one line from this process. A line means that the engine ended in an orderly way. End of
 * input without a line means that this process died, so the shell stops the engine.
 */
const SCRIPT = `
if read -r _; then exit 0; fi
kill -TERM "$1" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
  kill -0 "$1" 2>/dev/null || exit 0
  sleep 1
done
kill -KILL "$1" 2>/dev/null
`;

/** Returns the function that calls the watchdog off. */
function watchOver(pid) {
  const shell = spawn('sh', ['-c', SCRIPT, 'watchdog', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // The shell may already be gone; only the engine's end matters then.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  return () => shell.stdin.end('done\n');
}

// Keeps one child process alive.
const STABLE_MS = 3000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5000;

/**
 * Returns the pause before the next start, by the number of deaths in quick succession. The first restart is
 * immediate, since one crash is no pattern.
 */
export function restartPause(quickDeaths) {
  if (quickDeaths <= 1) return 0;
  return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (quickDeaths - 2));
}

/**
 * Starts the child and restarts it after each death, until `stop`. `startChild` returns `{ pid, exited, stop,
 * kill }` (see child-process.mjs); `onDeath` runs for each unrequested death and may return `false` to give
 * up. Clock and pause are parameters for tests.
 */
export function supervise(startChild, { onDeath, now = Date.now, pause = delay } = {}) {
  const stopping = new AbortController();
  let child = startChild();
  let startedAt = now();
  let quickDeaths = 0;

  const finished = (async () => {
    for (;;) {
      const outcome = await child.exited;
      if (stopping.signal.aborted) return;
      quickDeaths = now() - startedAt < STABLE_MS ? quickDeaths + 1 : 1;
      const wait = restartPause(quickDeaths);
      if (onDeath?.({ ...outcome, quickDeaths, wait }) === false) return;
      await pause(wait, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      child = startChild();
      startedAt = now();
    }
  })();

  return {
    get pid() {
      return child.pid;
    },
    finished,
    /** Ends supervision and child; resolves when the child is gone. */
    async stop(options) {
      stopping.abort();
      await child.stop(options);
      await finished;
    },
    kill() {
      stopping.abort();
      child.kill();
    },
  };
}
