import { acceptedHash } from './lib/accepted.js';
import { texts } from './lib/json.js';
import type { Session } from './lib/session.js';

export interface AcceptedMessagesRequest {
  ids: string[];
}

/**
 * accepted messages: which of these user messages the session has already accepted. Writes nothing.
 *
 * @returns `found` with their ids
 */
export function acceptedMessages(session: Session, { ids }: AcceptedMessagesRequest): string {
  const found: string[] = [];
  for (const id of ids) if (acceptedHash(session, id) !== undefined) found.push(id);
  return `{"kind":"found","ids":${texts(found)}}`;
}
