import type { Request } from 'express';
import { HelixError } from '../protocol/errors.js';
import { HEADERS } from '../protocol/headers.js';
import { LIMITS } from '../protocol/limits.js';
import { toVisitorName } from '../protocol/responder.js';
import type { RouteDeps } from './deps.js';
import type { Identity } from './identity.js';

const OPERATORS = '/api/operator/';
const ALL = '*';

/**
 * Reads who sends a request. An operator whose identity names further tenants may choose one of them
 * by `x-helix-tenant`, on routes of operators only: a chat always belongs to the caller's own tenant.
 *
 * @throws HelixError `unauthorized`; `not_allowed` for a tenant that the caller may not choose
 */
export async function readCaller(
  { readIdentity }: Pick<RouteDeps, 'readIdentity'>,
  request: Request,
): Promise<Identity> {
  const identity = await readIdentity(request);
  const sent = request.get(HEADERS.tenant);
  if (sent === undefined || !request.path.startsWith(OPERATORS)) return identity;
  return inTenant(identity, decode(sent));
}

/**
 * The caller as an operator of a tenant, under a name that no user of it has. Pure.
 *
 * @throws HelixError `not_allowed`
 */
export function inTenant(identity: Identity, tenantId: string | undefined): Identity {
  if (tenantId === identity.tenantId && tenantId !== undefined) return identity;
  const { tenants = [] } = identity;
  const isChosen = tenantId !== undefined && tenantId !== ALL;
  if (!isChosen || !(tenants.includes(ALL) || tenants.includes(tenantId))) {
    throw new HelixError('not_allowed', 'You may not act on this tenant.');
  }
  const userId = toVisitorName(identity);
  return { ...identity, tenantId, userId };
}

/** Undefined for text that names no tenant. */
function decode(text: string): string | undefined {
  try {
    const name = decodeURIComponent(text);
    return name.length > 0 && name.length <= LIMITS.idChars ? name : undefined;
  } catch {
    return undefined;
  }
}
