import { headOf, type RowHead } from './messages.js';
import type { Turn } from './record.js';
import type { Session } from './tree.js';

/** A turn's place in the transcript. The functions here find turns and rows without reading all of it. */
export type PlacedTurn = Pick<Turn, 'n' | 'row' | 'sequence' | 'messageId'>;

export function headAt(session: Session, row: number): RowHead | undefined {
  const text = session.rows.at(row);
  return text === undefined ? undefined : headOf(text);
}

export function headsOf(session: Session, from: number, to: number): RowHead[] {
  return to < from ? [] : session.rows.range(from, to).map(headOf);
}

/** Rows of the first read: most turns begin with fewer user messages, and most steps have fewer results. */
const PAGE = 10;

/** Returns the rows from an index on that fulfil a condition, up to the first that does not. */
export function headsWhile(
  session: Session,
  from: number,
  ends: number,
  isWanted: (head: RowHead) => boolean,
): RowHead[] {
  const found: RowHead[] = [];
  for (let size = PAGE; ; size *= 2) {
    const at = from + found.length;
    const page = headsOf(session, at, Math.min(at + size, ends) - 1);
    const other = page.findIndex((head) => !isWanted(head));
    found.push(...page.slice(0, other < 0 ? undefined : other));
    if (other >= 0 || page.length < size) return found;
  }
}

/** Returns the user messages at a turn's beginning, which precede its reply. */
export function askedFrom(session: Session, from: number, ends: number): RowHead[] {
  return headsWhile(session, from, ends, ({ role }) => role === 'user');
}

export function countShown(heads: readonly RowHead[]): number {
  return heads.filter(({ hidden }) => hidden !== true).length;
}

/** Returns the number in a reply's id, or NaN: replies of imported conversations have other ids. */
export function numberOf(messageId: string): number {
  return messageId.startsWith('msg-') ? Number(messageId.slice('msg-'.length)) : Number.NaN;
}

/** Finds the last turn before the newest one that `isEarly` accepts, by binary search. */
export function lastTurn(
  session: Session,
  newest: PlacedTurn,
  isEarly: (turn: PlacedTurn) => boolean,
): PlacedTurn | undefined {
  let [low, high] = [0, newest.n];
  let found: PlacedTurn | undefined;
  while (high - low > 1) {
    const n = Math.floor((low + high) / 2);
    const place = session.turns.get(n);
    const turn = place && { n, ...place };
    if (turn === undefined || isEarly(turn)) {
      low = n;
      found = turn ?? found;
    } else {
      high = n;
    }
  }
  return found;
}

export function turnOfRow(session: Session, row: number): PlacedTurn {
  const newest = session.existing.turn;
  if (row >= newest.row) return newest;
  return lastTurn(session, newest, (turn) => turn.row <= row) ?? newest;
}

/** Returns the index behind a turn's last row. */
export function endOf(session: Session, { n }: PlacedTurn): number {
  const isNewest = n >= session.existing.turn.n;
  return (isNewest ? undefined : session.turns.get(n + 1)?.row) ?? session.rows.count;
}

/** A range of rows, to the end if `to` is absent. */
export interface RowRange {
  from: number;
  to?: number | undefined;
  /** Number of visible messages before it. */
  before: number;
}

/**
 * Finds the turns that hold the visible messages from one index up to another, and the message after them if there is
 * one. Undefined if the ids of replies do not tell.
 */
export function rowsOfMessages(
  session: Session,
  { from, to }: { from: number; to: number },
): RowRange | undefined {
  const newest = session.existing.turn;
  const others: string[] = [];
  /** Returns the last turn with at most this many visible messages before its reply. */
  const lastUpTo = (count: number): PlacedTurn | undefined => {
    const isEarly = ({ messageId }: PlacedTurn): boolean => {
      if (Number.isNaN(numberOf(messageId))) others.push(messageId);
      return numberOf(messageId) <= count;
    };
    return isEarly(newest) ? newest : lastTurn(session, newest, isEarly);
  };
  const [first, last] = [lastUpTo(from), lastUpTo(to)];
  if (others.length > 0) return undefined;
  // The reply of the turn after the last one comes behind the message after the range.
  const after = (last?.n ?? 0) + 2;
  const end = after <= newest.n ? session.turns.get(after)?.row : undefined;
  if (first === undefined) return { from: 0, to: end, before: 0 };
  const asked = askedFrom(session, first.row, endOf(session, first));
  return { from: first.row, to: end, before: numberOf(first.messageId) - countShown(asked) };
}
