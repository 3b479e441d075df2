import { createHash } from 'node:crypto';
import type { UserPart, UserRow } from '../../protocol/rows.js';
import type { UserMessage } from '../contract/runs.js';

/** Converts a row to a message. A session accepts an id once, with one content only. Pure. */
export function toUserMessage(row: UserRow): UserMessage {
  const hash = createHash('sha256')
    .update(JSON.stringify(contentOf(row.parts)))
    .digest('hex');
  return { id: row.id, hash, row, hidden: row.hidden === true };
}

/** Returns the parts without provider options, since pages post the message again without them. Pure. */
export function contentOf(parts: readonly UserPart[]): readonly UserPart[] {
  return parts.map(({ providerOptions: _of, ...part }) => part);
}
