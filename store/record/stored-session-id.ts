import { createHash } from 'node:crypto';

/** 96 bits: no two tenants of one installation share it, and a collision cannot be searched for. */
const HASH_CHARS = 16;

/**
 * Returns the stored id of a tenant's session. Clients choose session ids, so without this one tenant could take
 * another's ids, or learn which exist.
 */
export function toStoredSessionId(sessionId: string, tenantId: string | undefined): string {
  if (tenantId === undefined || tenantId === '') return sessionId;
  const hash = createHash('sha256').update(tenantId).digest('base64url').slice(0, HASH_CHARS);
  // A command line would take an id that begins with a dash for an option.
  return `${hash.replace(/^-/, '_')}~${sessionId}`;
}
