// Listens for requests to end a foreground command.
import { constants } from 'node:os';
import { describeProcess, identityOf, isSameProcess } from '../system/process-identity.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 1000;
/** If `sh` is bash, npm also forwards a Ctrl-C that this process got from the terminal. */
const SAME_PRESS_MS = 300;

/**
 * Returns an AbortSignal that fires at the first request. `onRepeat` runs for each further one; processes
 * killed then have not ended well, which the exit code says. The death of the npm that started this process
 * counts as a request, because no key press arrives any more. The clock is a parameter for tests.
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
  // The terminal may close before the product ends; write errors must not crash it.
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

/** Searches the ancestors, because a shell between npm and this process outlives npm. */
function findNpm() {
  let pid = process.ppid;
  for (let generation = 0; generation < 3; generation += 1) {
    const ancestor = describeProcess(pid);
    if (!ancestor || ancestor.command.startsWith('npm')) return ancestor && pid;
    pid = ancestor.parent;
  }
  return undefined;
}

export function stopRequested(signal) {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
