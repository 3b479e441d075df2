import { HelixError } from '../../protocol/errors.js';

/** A caller waits this long for a store that is away, then fails. */
const OUTAGE_MS = 30_000;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1_000;

/**
 * Retries with back-off while the store is away. Work that hangs fails at the end of that time.
 *
 * @throws HelixError `unavailable` when it stays away; the signal's reason when that fires; any other
 * error at once
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  outageMs = OUTAGE_MS,
): Promise<T> {
  const giveUpAt = Date.now() + outageMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    try {
      return await within(work(), giveUpAt - Date.now(), signal);
    } catch (error) {
      const isAway = HelixError.isInstance(error) && error.code === 'unavailable';
      if (!isAway || signal.aborted || Date.now() + pause > giveUpAt) throw error;
    }
    await within(new Promise((resolve) => setTimeout(resolve, pause)), 2 * pause, signal);
  }
}

function within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      end();
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      end();
      reject(new HelixError('unavailable', 'The conversation store cannot be reached right now.'));
    }, ms);
    signal.addEventListener('abort', abort);
    work.finally(end).then(resolve, reject);
    if (signal.aborted) abort();
  });
}
