import type { SessionRecord } from '../contract/sessions.js';
import type { Store } from '../contract/store.js';
import { toStoredSessionId } from './stored-session-id.js';

/**
 * Finds a session by the id that its client uses, whichever user of the tenant owns it, with what
 * `read` returns of it. A session that its tenant has under the bare id stays there; to other tenants
 * it does not exist. Only where release 0.2.0 may be running, which knows no other ids, all tenants
 * share the bare ones.
 */
export async function locateSession<Found extends { record: SessionRecord }>(
  sessions: Pick<Store['sessions'], 'tenantsApart'>,
  sessionId: string,
  tenantId: string | undefined,
  read: (storedId: string) => Promise<Found | undefined>,
): Promise<{ storedId: string; found?: Found | undefined }> {
  const storedId = toStoredSessionId(sessionId, tenantId);
  const found = await read(storedId);
  if (found !== undefined || storedId === sessionId) return { storedId, found };
  const bare = { storedId: sessionId, found: await read(sessionId) };
  if (bare.found?.record.tenant === tenantId) return bare;
  return (await sessions.tenantsApart()) ? { storedId } : bare;
}
