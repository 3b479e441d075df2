import type { Caller } from '../ai-sdk/index.js';

/** No caller's own name may begin so. */
const PREFIX = 'other-tenant:';

/**
 * The name of an operator within a tenant that is not the own one. Users there may have the same id, and
 * also `<tenant>|<user>`, as identity providers make them: what a name owns is compared by the name.
 */
export function toVisitorName({ tenantId = '', userId }: Caller): string {
  return `${PREFIX}${encodeURIComponent(tenantId)}|${userId}`;
}

/** True for a name that only operators of other tenants have. */
export function isVisitorName(userId: string): boolean {
  return userId.startsWith(PREFIX);
}
