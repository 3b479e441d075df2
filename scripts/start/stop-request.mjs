// Listens for everything that asks a foreground command to end.

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 1000;

/**
 * Returns an AbortSignal that fires at the first request. `onRepeat` is called for each further
 * one: somebody is impatient. When npm started this process and is killed, no key press can reach
 * it any more, so that counts as a request too.
 */
export function listenForStop({ onRepeat }) {
  const controller = new AbortController();
  const request = () => {
    if (controller.signal.aborted) onRepeat();
    else controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, request);

  const parent = process.ppid;
  if (process.env.npm_lifecycle_event) {
    setInterval(() => {
      if (process.ppid !== parent && !controller.signal.aborted) request();
    }, PARENT_CHECK_MS).unref();
  }
  // The screen may go away before the product does: that is no reason to fall over.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return controller.signal;
}

/** Resolves when the stop is requested. */
export function stopRequested(signal) {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
