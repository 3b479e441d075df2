import { HelixError } from '../../protocol/errors.js';
import type { Row } from '../../protocol/rows.js';

/**
 * Parses stored JSON. Only checked values are stored, so anything else was written by another
 * program or truncated.
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

/** Parses a row, without the stored `hidden: false` of a visible message, which is implied. */
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
