import { formatInt, redis, toNumber } from './host.js';
import { readMessagePlace, readTurn, type Turn } from './places.js';
import { readHead, type RowHead } from './rows.js';
import type { Session } from './session.js';

/**
 * The turn of a row: the last turn that begins at or before it. @param newest newest turn of the
 * session
 */
export function turnAtRow(session: Session, newest: Turn, row: number): Turn {
  let [low, high] = [0, newest.turn];
  let found = newest;
  if (row >= newest.row) return newest;
  // Binary search: `low` begins at the row or before it (if any turn does), `high` after it.
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const turn = readTurn(session, middle);
    if (turn === undefined || turn.row <= row) {
      low = middle;
      if (turn !== undefined) found = turn;
    } else {
      high = middle;
    }
  }
  return found;
}

/** Row of a message: a user's own row, or for a reply a row of its turn. */
export function rowOfMessage(session: Session, newest: Turn, id: string): number | undefined {
  if (id === newest.messageId) return newest.row;
  const place = readMessagePlace(session, id);
  if (place !== undefined) return headAt(session, place.row)?.id === id ? place.row : undefined;
  if (!id.startsWith('msg-')) return undefined;
  const wanted = toNumber(id.slice('msg-'.length));
  let [low, high] = [0, newest.turn];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const turn = readTurn(session, middle);
    if (turn === undefined || toNumber(turn.messageId.slice('msg-'.length)) <= wanted) low = middle;
    else high = middle;
  }
  const turn = readTurn(session, low);
  return turn?.messageId === id ? turn.row : undefined;
}

export function headAt(session: Session, row: number): RowHead | undefined {
  const stored = redis.call('LINDEX', session.rows, formatInt(row));
  return stored === false ? undefined : readHead(stored);
}
