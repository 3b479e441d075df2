import { createHash } from 'node:crypto';
import type { Row, UserPart, UserRow } from '../../protocol/rows.js';
import type { UserMessage } from '../contract/runs.js';

/** A row as a session accepts it: its id is taken once, and with one content only. Pure. */
export function toUserMessage(row: UserRow): UserMessage {
  const hash = createHash('sha256')
    .update(JSON.stringify(contentOf(row.parts)))
    .digest('hex');
  return { id: row.id, hash, row, hidden: row.hidden === true };
}

/** The parts without options for the model's provider: pages post the message again without them. Pure. */
export function contentOf(parts: readonly UserPart[]): readonly UserPart[] {
  return parts.map(({ providerOptions: _of, ...part }) => part);
}

/** True for a row at which a turn begins: a person's message that follows none. Pure. */
export function beginsTurn(rows: readonly Row[], at: number): boolean {
  return isOfPerson(rows[at]) && !isOfPerson(rows[at - 1]);
}

/** False for the notices of late answers, which no person wrote. */
function isOfPerson(row: Row | undefined): boolean {
  return row?.role === 'user' && !(row.hidden === true && row.id.startsWith('late-'));
}
