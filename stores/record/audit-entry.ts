import type { Act, AuditEntry } from '../contract/audit.js';

/** The actor of an act by a rule, without a person. */
export const RULE = 'rule';

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
