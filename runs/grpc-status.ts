import { HelixError } from '../protocol/errors.js';

// Of what Temporal refuses. No client of it is needed to read that.

/** gRPC: an invalid argument (3), or a request that the server does not know (12). Trying again does not help. */
export function isRefusedForGood(error: unknown): boolean {
  const code = codeOf(error);
  return code === 3 || code === 12;
}

/**
 * gRPC: cancelled (1), unknown (2), deadline exceeded (4), resource exhausted (8), aborted (10), internal (13),
 * unavailable (14), data loss (15). A message that is too large has 8 as well and does not pass.
 */
const PASSING = new Set([1, 2, 4, 8, 10, 13, 14, 15]);

/** True if the same request may succeed later. What has no code failed on this side, and would again. */
export function mayPass(error: unknown): boolean {
  const { code, message } = statusOf(error) ?? {};
  if (code === undefined || !PASSING.has(code)) return false;
  return code !== 8 || !/larger than/i.test(message ?? '');
}

/** The gRPC status of an error, or of what caused it. */
export function codeOf(error: unknown): number | undefined {
  return statusOf(error)?.code;
}

function statusOf(error: unknown): { code: number; message: string } | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? { code, message: error.message } : statusOf(error.cause);
}

/** A server without the search attributes of runs. */
export function unlisted(cause?: unknown): HelixError {
  const text = 'Runs cannot be listed: this server lacks their search attributes.';
  return new HelixError('unavailable', text, { cause });
}
