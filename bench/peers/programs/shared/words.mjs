/** Wall-clock ms with three decimals. */
export function wallClock() {
  return performance.timeOrigin + performance.now();
}

/**
 * The words of one model call: their own names, or the moment of each.
 *
 * @param {number} step from 1
 * @param {{ words: number, everyMs: number, stamp: boolean }} reply
 */
export async function* sayWords(step, { words, everyMs, stamp }) {
  const startedAt = performance.now();
  for (let word = 1; word <= words; word += 1) {
    yield stamp ? wallClock().toFixed(3) : `s${step}w${word}`;
    // Absolute times keep a late timer from delaying the next ones.
    const ms = startedAt + word * everyMs - performance.now();
    if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
  }
}
