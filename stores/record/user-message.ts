import { createHash } from 'node:crypto';
import type { UserRow } from '../../protocol/rows.js';
import type { UserMessage } from '../contract/runs.js';

/** A row as a session accepts it: its id is taken once, and with one content only. Pure. */
export function toUserMessage(row: UserRow): UserMessage {
  const hash = createHash('sha256').update(JSON.stringify(row.parts)).digest('hex');
  return { id: row.id, hash, row, hidden: row.hidden === true };
}
