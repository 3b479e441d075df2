import type { CallKind } from '../../protocol/run.js';
import type { OpenCall } from '../contract/call-record.js';
import type { SessionRecord } from '../contract/sessions.js';
import type { SessionOwner } from '../contract/waiting.js';

/** Returns true for calls that people or their pages answer. */
export function isQuestion({ kind }: { kind: CallKind }): boolean {
  return kind === 'approval' || kind === 'client';
}

/** Returns true for a question that is asked and not answered. */
export function asks({ spec, row, decision, held = false }: OpenCall): boolean {
  return isQuestion(spec) && !held && row === undefined && decision === undefined;
}

/** Returns true for a session of that owner. Lone surrogates cannot be stored, so they are replaced here too. */
export function isOwnedBy(record: SessionRecord, { owner, tenant }: SessionOwner): boolean {
  return record.owner === owner.toWellFormed() && isOfTenant(record, tenant);
}

/** Returns true for a session of that tenant, or for one without a tenant if none is named. */
export function isOfTenant(record: Pick<SessionRecord, 'tenant'>, tenant = ''): boolean {
  return (record.tenant ?? '').toWellFormed() === tenant.toWellFormed();
}
