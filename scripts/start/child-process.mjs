import { spawn } from 'node:child_process';

const GRACE_MS = 10_000;

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
  void exited.then(() => (gone = true));

  return {
    pid: child.pid,
    child,
    exited,
    /** Sends SIGTERM first; a process that is still alive after the grace time is killed. */
    async stop({ graceMs = GRACE_MS } = {}) {
      if (gone) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => killGroup(child.pid), graceMs);
      await exited;
      clearTimeout(timer);
    },
    /** Kills at once, for the second Ctrl-C. */
    kill() {
      if (!gone) killGroup(child.pid);
    },
  };
}

/** Signals the whole process group, so that no grandchild stays behind. */
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone between the check and the call.
  }
}
