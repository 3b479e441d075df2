import { isSamePerson, toPerson } from '../../protocol/responder.js';
import type { Act, AuditEntry, DualRequest } from '../contract/audit.js';

/** The actor of an act by a rule, without a person. */
export const RULE = 'rule';

/**
 * True for what a person did to what belongs to others. An erasure of that person removes what the person
 * wrote, but not that it was the person who did this. Pure.
 */
export function isOnOthers({ by, owner }: Pick<Act, 'by' | 'owner'>): boolean {
  return by !== undefined && by !== owner;
}

/** True if another person has asked for the same, and not another account of the same person. Pure. */
export function hasSecond(
  asked: readonly DualRequest[],
  { action, subject, ...mine }: Omit<DualRequest, 'until'>,
  tenantId: string | undefined,
): boolean {
  const toAsker = ({ by, personId }: Pick<DualRequest, 'by' | 'personId'>) =>
    toPerson(by, { tenantId, personId });
  return asked.some(
    (each) =>
      each.action === action &&
      each.subject === subject &&
      !isSamePerson(toAsker(each), toAsker(mine)),
  );
}

/** The entry of an act; its fields in a fixed order, since the text is hashed. Pure. */
export function toEntry(
  act: Act,
  target: Pick<AuditEntry['target'], 'sessionId' | 'person'>,
  pseudonym: string | undefined,
): AuditEntry {
  const { id, at, roles, via = 'api', tenant, action, outcome = 'done' } = act;
  const { runId, toolCallId, toolName, inputHash, reasonHash, detail } = act;
  return {
    id,
    at,
    actor: pseudonym ?? RULE,
    roles: roles === undefined || roles.length === 0 ? undefined : roles,
    via,
    tenant: tenant === '' ? undefined : tenant,
    action,
    target: { ...target, runId, toolCallId, toolName },
    outcome,
    inputHash,
    reasonHash,
    detail,
  };
}
