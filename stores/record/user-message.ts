import { createHash } from 'node:crypto';
import type { Row, UserRow } from '../../protocol/rows.js';
import type { UserMessage } from '../contract/runs.js';

/** A row as a session accepts it: its id is taken once, and with one content only. Pure. */
export function toUserMessage(row: UserRow): UserMessage {
  const hash = createHash('sha256').update(JSON.stringify(row.parts)).digest('hex');
  return { id: row.id, hash, row, hidden: row.hidden === true };
}

/** True for a row at which a turn begins: a person's message that follows none. Pure. */
export function beginsTurn(rows: readonly Row[], at: number): boolean {
  return isOfPerson(rows[at]) && !isOfPerson(rows[at - 1]);
}

/** False for the notices of late answers, which no person wrote. */
function isOfPerson(row: Row | undefined): boolean {
  return row?.role === 'user' && !(row.hidden === true && row.id.startsWith('late-'));
}
