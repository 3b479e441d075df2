import { setTimeout as delay } from 'node:timers/promises';

/** Polls until the check succeeds (true) or the time is over (false). */
export async function waitUntil(condition, { withinMs, everyMs = 50, signal }) {
  const deadline = Date.now() + withinMs;
  for (;;) {
    signal?.throwIfAborted();
    if (await condition()) return true;
    if (Date.now() + everyMs > deadline) return false;
    await delay(everyMs);
  }
}
