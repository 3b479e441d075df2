import { HelixError } from '../../protocol/errors.js';
import type { Row } from '../../protocol/rows.js';

/**
 * What was stored as JSON. Only checked values are stored, so that anything else was put there by
 * somebody else, or cut.
 *
 * @throws HelixError `corrupt_record`
 */
export function parseStored(text: string | undefined, what: string): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch (error) {
    throw corrupt(what, error);
  }
}

/** A row; that a message is shown is stored, though it goes without saying. */
export function parseRow(text: string | undefined, what: string): Row {
  const row = parseStored(text, what) as Row;
  if (row.role === 'user' && row.hidden === false) delete row.hidden;
  return row;
}

export function corrupt(what: string, cause?: unknown): HelixError {
  return new HelixError('corrupt_record', 'A stored record cannot be read.', {
    detail: { what },
    cause,
  });
}
