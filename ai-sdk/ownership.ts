import type { SessionRecord } from '../stores/contract/sessions.js';
import type { Store } from '../stores/contract/store.js';
import { notFound } from './refusals.js';

/** Who asks. */
export interface Caller {
  userId: string;
  tenantId?: string;
}

/** Who a session belongs to when nobody said who they are. */
export const ANONYMOUS = 'anonymous';

/** A session belongs to its creator, within a tenant if there is one. */
export function isOwner(session: { owner: string; tenant?: string }, caller: Caller): boolean {
  return session.owner === caller.userId && (session.tenant ?? '') === (caller.tenantId ?? '');
}

/**
 * A caller's own session.
 *
 * @throws HelixError `not_found`, to strangers as well: they learn nothing
 */
export async function readOwned(
  stateStore: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller,
): Promise<SessionRecord> {
  const record = await stateStore.sessions.read(sessionId);
  if (record === undefined || !isOwner(record, caller)) throw notFound();
  return record;
}

/** Who sends a request, of which both fields are optional. */
export function toCaller(sent: {
  userId?: string | undefined;
  tenantId?: string | undefined;
}): Caller {
  const { userId = ANONYMOUS, tenantId } = sent;
  return tenantId === undefined ? { userId } : { userId, tenantId };
}
