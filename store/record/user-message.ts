import { createHash } from 'node:crypto';
import type { UserPart, UserRow } from '../../protocol/rows.js';
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
