import { rootOf } from '../protocol/ids.js';
import type { SessionRecord, Sessions } from '../stores/contract/sessions.js';

/** Runs whose owners are remembered. */
const MOST = 5_000;

export type SessionOwner = Pick<SessionRecord, 'owner' | 'tenant'>;

/**
 * Finds the owner of a run's conversation; undefined if it was erased. Remembered by run: an id of a
 * session that was erased may be another user's next.
 */
export type FindOwner = (run: {
  sessionId: string;
  runId: string;
}) => Promise<SessionOwner | undefined>;

export function createOwnerLookup(sessions: Pick<Sessions, 'read'>): FindOwner {
  const known = new Map<string, SessionOwner>();
  return async ({ sessionId, runId }) => {
    const found = known.get(runId);
    if (found !== undefined) return found;
    const record = await sessions.read(rootOf(sessionId));
    if (record === undefined) return undefined;
    const { owner, tenant } = record;
    if (known.size >= MOST) known.delete(known.keys().next().value ?? '');
    const stored = { owner, ...(tenant !== undefined && { tenant }) };
    known.set(runId, stored);
    return stored;
  };
}
