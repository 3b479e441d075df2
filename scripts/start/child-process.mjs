import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

const GRACE_MS = 10_000;
/** How long what the program started may take to end after it, and how often it is looked at. */
const REST_GRACE_MS = 2_000;
const LOOK_MS = 20;

/**
 * Starts a program in a session of its own: the terminal's Ctrl-C then reaches only the
 * supervisor, which stops its children one after another, instead of all of them at once.
 * Resolves `exited` also for a program that could not be started at all.
 */
export function startChildProcess(file, args, options) {
  const child = spawn(file, args, { detached: true, ...options });
  const exited = new Promise((resolve) => {
    child.once('error', (error) => resolve({ reason: error.message }));
    child.once('exit', (code, signal) => resolve({ reason: signal ?? `exit code ${code}`, code }));
  });
  let gone = false;
  // Programs such as npx do not always take along what they started.
  void exited.then(() => (gone = !signalGroup(child.pid, 0)));

  return {
    pid: child.pid,
    child,
    exited,
    /** Sends SIGTERM first; a process that is still alive after the grace time is killed. */
    async stop({ graceMs = GRACE_MS } = {}) {
      if (gone) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
      await endRest(child.pid);
    },
    /** Kills at once, for the second Ctrl-C. */
    kill() {
      if (!gone) signalGroup(child.pid, 'SIGKILL');
    },
  };
}

/** Ends what is left of a group whose first process has ended. */
async function endRest(pid) {
  const until = performance.now() + REST_GRACE_MS;
  let isLeft = signalGroup(pid, 'SIGTERM');
  while (isLeft && performance.now() < until) {
    await delay(LOOK_MS);
    isLeft = signalGroup(pid, 0);
  }
  if (isLeft) signalGroup(pid, 'SIGKILL');
}

/** Signals the whole process group, so that no grandchild stays behind. False if it has no process. */
function signalGroup(pid, signal) {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}
