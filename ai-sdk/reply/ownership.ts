import { ANONYMOUS } from '../../protocol/ids.js';
/** Who asks. */
export interface Caller {
  userId: string;
  tenantId?: string;
}

/**
 * A session belongs to its creator, within a tenant if there is one; what is not there to nobody,
 * and nothing to a caller who is not named, whom plain JavaScript may leave out.
 */
export function isOwner(
  session: { owner: string; tenant?: string } | undefined,
  caller: Caller | undefined,
): boolean {
  if (session === undefined || !caller?.userId) return false;
  return session.owner === caller.userId && (session.tenant ?? '') === (caller.tenantId ?? '');
}

/** Who sends a request, of which both fields are optional. */
export function toCaller(sent: {
  userId?: string | undefined;
  tenantId?: string | undefined;
}): Caller {
  const { userId = ANONYMOUS, tenantId } = sent;
  return tenantId === undefined ? { userId } : { userId, tenantId };
}
