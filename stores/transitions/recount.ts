import { only } from './lib/request.js';
import { addToField, readRoot, setFields } from './lib/root.js';
import type { Session } from './lib/session.js';

export interface RecountRequest {
  /** Size of what is stored, as it was measured. */
  found: number;
  /** Value of `bytes` when the measurement began. */
  counted: number;
}

/**
 * recount: corrects the stored size of a session that lost many rows at once. What was stored during the measurement stays counted.
 *
 * @returns `recounted` · `not_found`
 */
export function recount(session: Session, { found, counted }: RecountRequest): string {
  if (readRoot(session, ['agent']).agent === undefined) return only('not_found');
  addToField(session, 'bytes', found - counted);
  setFields(session, ['counted', '1']);
  return only('recounted');
}
