import { rootOf } from '../protocol/ids.js';
import type { SessionRecord, Sessions } from '../stores/contract/sessions.js';

/** Conversations whose owners are remembered. */
const MOST = 5_000;

export type SessionOwner = Pick<SessionRecord, 'owner' | 'tenant'>;

/** Finds the owner of a session's conversation, who never changes; undefined if it was erased. */
export type FindOwner = (sessionId: string) => Promise<SessionOwner | undefined>;

export function createOwnerLookup(sessions: Pick<Sessions, 'read'>): FindOwner {
  const known = new Map<string, SessionOwner>();
  return async (sessionId) => {
    const root = rootOf(sessionId);
    const found = known.get(root);
    if (found !== undefined) return found;
    const record = await sessions.read(root);
    if (record === undefined) return undefined;
    const { owner, tenant } = record;
    if (known.size >= MOST) known.delete(known.keys().next().value ?? '');
    const stored = { owner, ...(tenant !== undefined && { tenant }) };
    known.set(root, stored);
    return stored;
  };
}
