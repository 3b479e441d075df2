import { HelixError } from '../../protocol/errors.js';

export function corrupt(what: string, cause?: unknown): HelixError {
  return new HelixError('corrupt_record', 'A stored record cannot be read.', {
    detail: { what },
    cause,
  });
}
