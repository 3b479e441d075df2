import { createHash } from 'node:crypto';

/** 96 bits: no two tenants of one installation share it, and a collision cannot be searched for. */
const HASH_CHARS = 16;

/**
 * The id under which a tenant's session is stored. Clients choose the ids of their sessions, so
 * without this one tenant could take those of another, or learn which there are.
 */
export function toStoredSessionId(sessionId: string, tenantId: string | undefined): string {
  if (tenantId === undefined || tenantId === '') return sessionId;
  const hash = createHash('sha256').update(tenantId).digest('base64url').slice(0, HASH_CHARS);
  return `${hash}~${sessionId}`;
}
