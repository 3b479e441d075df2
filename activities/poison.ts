import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { HelixError } from '../protocol/errors.js';

/** An attempt that fails by a fault of the code is repeated this often; then the run fails. */
const MAX_ATTEMPTS = 5;

/**
 * Tells a fault that repetition does not mend from an outage that ends some time: a run must not
 * be tried for ever because its agent's prompt function throws.
 */
export function isPoison(error: unknown, attempt: number): boolean {
  if (error instanceof CancelledFailure || error instanceof ApplicationFailure) return false;
  if (HelixError.isInstance(error) && error.code === 'unavailable') return false;
  return attempt >= MAX_ATTEMPTS;
}
