import { setTimeout as delay } from 'node:timers/promises';

/** Asks again and again until the answer is yes (true) or the time is over (false). */
export async function waitUntil(condition, { withinMs, everyMs = 50, signal }) {
  const deadline = Date.now() + withinMs;
  for (;;) {
    signal?.throwIfAborted();
    if (await condition()) return true;
    if (Date.now() + everyMs > deadline) return false;
    await delay(everyMs);
  }
}
