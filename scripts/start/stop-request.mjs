// Listens for everything that asks a foreground command to end.
import { constants } from 'node:os';
import { describeProcess, identityOf, isSameProcess } from '../system/process-identity.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 1000;
/** Where `sh` is bash, npm forwards a Ctrl-C that this process has got from the terminal, too. */
const SAME_PRESS_MS = 300;

/**
 * Returns an AbortSignal that fires at the first request. `onRepeat` is called for each further
 * one, from an impatient user: what is killed then has not ended well, which the exit code says. When
 * npm started this process and is killed, no key press can reach it any more, so that counts as a
 * request too. The clock is a parameter for the tests.
 */
export function listenForStop({ onRepeat, now = () => performance.now() }) {
  const controller = new AbortController();
  let requestedAt;
  const request = (name) => {
    requestedAt ??= now();
    if (!controller.signal.aborted) {
      controller.abort();
    } else if (now() - requestedAt > SAME_PRESS_MS) {
      process.exitCode = 128 + constants.signals[name];
      onRepeat();
    }
  };
  for (const signal of SIGNALS) process.on(signal, request);
  if (process.env.npm_lifecycle_event) watchNpm(() => controller.abort());
  // The terminal may close before the product ends, which must not crash it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return controller.signal;
}

function watchNpm(onEnd) {
  const npm = identityOf(findNpm() ?? process.ppid);
  const timer = setInterval(() => {
    if (isSameProcess(npm)) return;
    clearInterval(timer);
    onEnd();
  }, PARENT_CHECK_MS);
  timer.unref();
}

/** Between npm and this process there may be a shell, which does not end with npm. */
function findNpm() {
  let pid = process.ppid;
  for (let generation = 0; generation < 3; generation += 1) {
    const ancestor = describeProcess(pid);
    if (!ancestor || ancestor.command.startsWith('npm')) return ancestor && pid;
    pid = ancestor.parent;
  }
  return undefined;
}

/** Resolves when the stop is requested. */
export function stopRequested(signal) {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
