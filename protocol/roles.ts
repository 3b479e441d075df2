import { z } from 'zod';
import { ROLES, type Role } from './actor.js';
import { HelixError } from './errors.js';

/** True if one of the roles is the wanted one, or includes it: an operator may all that others may. */
export function holdsRole(roles: readonly Role[] | undefined, wanted: Role): boolean {
  return roles?.some((role) => ROLES.indexOf(role) >= ROLES.indexOf(wanted)) === true;
}

/** The refusal of a caller who has none of these roles, and needs one. */
export function needsRole(roles: readonly Role[]): HelixError {
  return new HelixError('not_allowed', `This needs the role ${roles.join(' or ')}.`, {
    detail: { roles },
  });
}

/**
 * Who may approve a call, as its tool demands; stored with the call. Absent: the owner of the
 * conversation, and approvers of the tenant.
 */
export const Approvers = z.object({
  /** The approver needs one of these roles. */
  roles: z.array(z.enum(ROLES)).optional(),
  /** The tool's own function decides about the approver; it is in the agent's code. */
  rule: z.boolean().optional(),
  /** Those by whose doing it asks may not approve, see `hasAsked`. */
  separate: z.boolean().optional(),
});
export type Approvers = z.infer<typeof Approvers>;
