import { createHash } from 'node:crypto';
import type { SessionRecord } from '../../stores/contract/sessions.js';
import type { Store } from '../../stores/contract/store.js';
import { isOwner, type Caller } from './ownership.js';
import { notFound } from './refusals.js';

/** 96 bits: no two tenants of one installation share it, and nobody finds one that does. */
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

/** Where a caller's session is, or would be; `record` is absent if it does not exist yet. */
export interface FoundSession {
  storedId: string;
  record?: SessionRecord | undefined;
}

/**
 * Finds a session by the id that its client gives, whoever in the tenant owns it. One that its tenant
 * has under the bare id stays there; to other tenants it is as if there was none. Only where release
 * 0.2.0 may be at work, which knows no other ids, all tenants share the bare ones.
 */
export async function findSession(
  { sessions }: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller,
): Promise<FoundSession> {
  const storedId = toStoredSessionId(sessionId, caller.tenantId);
  const record = await sessions.read(storedId);
  if (record !== undefined || storedId === sessionId) return { storedId, record };
  const bare = { storedId: sessionId, record: await sessions.read(sessionId) };
  if (bare.record?.tenant === caller.tenantId) return bare;
  return (await sessions.tenantsApart()) ? { storedId } : bare;
}

/** A caller's own session; undefined as well if another user owns it. */
export async function findOwnSession(
  stores: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller | undefined,
): Promise<SessionRecord | undefined> {
  // Plain JavaScript may leave the caller out.
  const { record } = await findSession(stores, sessionId, caller ?? { userId: '' });
  return isOwner(record, caller) ? record : undefined;
}

/** The same. @throws HelixError `not_found`, to strangers as well: they learn nothing */
export async function readOwned(
  stores: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller,
): Promise<SessionRecord> {
  const record = await findOwnSession(stores, sessionId, caller);
  if (record === undefined) throw notFound();
  return record;
}
