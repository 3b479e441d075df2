import type { SessionRecord } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';

/** Returns true for a session of that owner. Lone surrogates cannot be stored, so they are replaced here too. */
export function isOwnedBy(record: SessionRecord, { owner, tenant }: SessionOwner): boolean {
  return record.owner === owner.toWellFormed() && isOfTenant(record, tenant);
}

/** Returns true for a session of that tenant, or for one without a tenant if none is named. */
export function isOfTenant(record: Pick<SessionRecord, 'tenant'>, tenant = ''): boolean {
  return (record.tenant ?? '').toWellFormed() === tenant.toWellFormed();
}
