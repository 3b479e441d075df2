import type { Connection } from '@temporalio/client';
import { HelixError } from '../protocol/errors.js';

/** A request waits at most this long for Temporal; the SDK's own deadline fires later than it says. */
const DEADLINE_MS = 1_500;

/** Races a call to Temporal against the deadline. @throws HelixError `unavailable` when it is over */
export async function withinDeadline<T>(
  connection: Pick<Connection, 'withDeadline'>,
  call: () => Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(unavailable(new Error(`no answer within ${String(deadlineMs)} ms`)));
    }, deadlineMs);
  });
  try {
    return await Promise.race([connection.withDeadline(Date.now() + deadlineMs, call), late]);
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

/** gRPC: an invalid argument (3) or a request that the server does not know (12) stays one. */
export function isRefusedForGood(error: unknown): boolean {
  const code = codeOf(error);
  return code === 3 || code === 12;
}

/** gRPC: cancelled by a server that gave up (1), deadline exceeded (4), resource exhausted (8), unavailable (14). */
function isOutage(error: unknown): boolean {
  const code = codeOf(error);
  return code === 1 || code === 4 || code === 8 || code === 14;
}

/** The gRPC status of an error, or of what caused it. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? code : codeOf(error.cause);
}
