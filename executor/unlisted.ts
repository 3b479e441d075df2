import { HelixError } from '../protocol/errors.js';

/** A server without the search attributes of runs. */
export function unlisted(cause?: unknown): HelixError {
  const text = 'Runs cannot be listed: this server lacks their search attributes.';
  return new HelixError('unavailable', text, { cause });
}
