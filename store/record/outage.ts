import { hasCode, HelixError } from '../../protocol/errors.js';
import { retryDelay, sleep, withTimeout } from '../../protocol/time.js';

/** A caller waits this long for an unreachable store, then fails. */
const OUTAGE_MS = 30_000;
const RETRY = { firstMs: 50, mostMs: 1_000 };

/**
 * Retries with back-off while the store is unreachable. Work that hangs fails at the end of that time.
 *
 * @throws HelixError `unavailable` when it stays unreachable; the signal's reason when that fires; any other error at
 * once
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  outageMs = OUTAGE_MS,
): Promise<T> {
  const giveUpAt = Date.now() + outageMs;
  for (let attempt = 1; ; attempt += 1) {
    const pause = retryDelay({ attempt, ...RETRY });
    try {
      return await withTimeout(giveUpAt - Date.now(), work(), { late: unavailable, signal });
    } catch (error) {
      const isAway = hasCode(error, 'unavailable');
      if (!isAway || signal.aborted || Date.now() + pause > giveUpAt) throw error;
    }
    await sleep(pause, signal);
    signal.throwIfAborted();
  }
}

function unavailable(): HelixError {
  return new HelixError('unavailable', 'The conversation store cannot be reached right now.');
}
