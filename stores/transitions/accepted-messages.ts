import { acceptedHash, runOfAccepted } from './lib/accepted.js';
import { texts } from './lib/json.js';
import type { Session } from './lib/session.js';

export interface AcceptedMessagesRequest {
  ids: string[];
}

/**
 * accepted messages: which of these user messages the session has already accepted, and the newest
 * run that replies to each; '' if it is not known. Writes nothing.
 *
 * @returns `found` with their ids and runs
 */
export function acceptedMessages(session: Session, { ids }: AcceptedMessagesRequest): string {
  const found: string[] = [];
  const runs: string[] = [];
  for (const id of ids) {
    if (acceptedHash(session, id) === undefined) continue;
    found.push(id);
    runs.push(runOfAccepted(session, id) ?? '');
  }
  return `{"kind":"found","ids":${texts(found)},"runs":${texts(runs)}}`;
}
