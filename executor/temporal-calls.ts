import type { Connection } from '@temporalio/client';
import { HelixError } from '../protocol/errors.js';

/** A request waits at most this long for Temporal; the SDK's own deadline fires later than it says. */
const DEADLINE_MS = 1_500;

/** Races a call to Temporal against the deadline. @throws HelixError `unavailable` when it is over */
export async function withinDeadline<T>(
  connection: Pick<Connection, 'withDeadline'>,
  call: () => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(unavailable(new Error(`no answer within ${String(DEADLINE_MS)} ms`)));
    }, DEADLINE_MS);
  });
  try {
    return await Promise.race([connection.withDeadline(Date.now() + DEADLINE_MS, call), late]);
  } catch (error) {
    throw isOutage(error) ? unavailable(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

function unavailable(cause: unknown): HelixError {
  return HelixError.isInstance(cause)
    ? cause
    : new HelixError('unavailable', 'The agents cannot be reached right now.', { cause });
}

/** gRPC: cancelled by a server that gave up (1), deadline exceeded (4), resource exhausted (8), unavailable (14). */
function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  if (code === 1 || code === 4 || code === 8 || code === 14) return true;
  return isOutage(error.cause);
}
