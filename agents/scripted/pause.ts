import { sleep } from '../../protocol/time.js';

/** Pieces sent without a wait before the process's other work gets a turn. */
const BURST = 64;

/** Resolves after `ms`; rejects at once with the signal's reason when it aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) return;
  await sleep(ms, signal);
  signal.throwIfAborted();
}

/**
 * Creates a clock for pieces: each call resolves when the next piece is due, the first at once. Due
 * times count from the first, so lateness does not add up.
 */
export function createPacer(everyMs: number, signal: AbortSignal): () => Promise<void> {
  let count = 0;
  let start = 0;
  return async () => {
    const index = count++;
    if (index === 0) start = performance.now();
    // Without this a long text without pauses would block the event loop, and so its own abort.
    if (index % BURST === BURST - 1) await new Promise((resolve) => setImmediate(resolve));
    await pause(Math.ceil(start + index * everyMs - performance.now()), signal);
  };
}
