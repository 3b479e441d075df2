import { HelixError } from '../../protocol/errors.js';

/** A session on a list that is ordered by time and then by id. */
export interface ListedSession {
  sessionId: string;
  /** ms since the epoch. */
  at: number;
}

export function formatCursor({ at, sessionId }: ListedSession): string {
  return `${String(at)}.${sessionId}`;
}

/** @throws HelixError `validation_error` */
export function parseCursor(cursor: string): ListedSession {
  const [, at, sessionId] = /^(\d{1,16})\.([A-Za-z0-9_~-]{1,145})$/.exec(cursor) ?? [];
  if (at === undefined || sessionId === undefined) {
    throw new HelixError('validation_error', 'The cursor is not valid.');
  }
  return { at: Number(at), sessionId };
}
