import { HelixError } from './errors.js';
import { withTimeout } from './time.js';

/** A rule of the host that asks another service; people, and streams that several share, wait for it. */
const VERDICT_MS = 1_500;

/**
 * What a rule of the host decides about a person.
 *
 * @throws HelixError `unavailable` if it takes longer than 1.5 s; what the rule throws
 */
export function verdictInTime<T>(verdict: T | Promise<T>): Promise<T> {
  const late = (): Error =>
    new HelixError('unavailable', 'Whether you may do this could not be found out in time.');
  return withTimeout(VERDICT_MS, Promise.resolve(verdict), { late });
}
