import type { Role } from '../protocol/actor.js';
import { holdsRole, needsRole } from '../protocol/roles.js';
import type { Identity } from './identity.js';

/** @throws HelixError `not_allowed` for a caller without this role, or one that includes it */
export function requireRole({ roles }: Pick<Identity, 'roles'>, role: Role): void {
  if (!holdsRole(roles, role)) throw needsRole([role]);
}
