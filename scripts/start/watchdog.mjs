// Stops an engine when the supervisor itself dies without a chance to do so (kill -9, a crash).
import { spawn } from 'node:child_process';

/**
 * A shell that waits for a line from this process. A line means that the engine ended in an
 * orderly way. The end of the input, without a line, means that this process is gone: the system
 * has closed the pipe, and only then the engine is stopped.
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
export function watchOver(pid) {
  const shell = spawn('sh', ['-c', SCRIPT, 'watchdog', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // The shell may be gone already; the engine's own end is what matters then.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  return () => shell.stdin.end('done\n');
}
