import type { Role } from '../protocol/actor.js';
import { HelixError } from '../protocol/errors.js';
import type { Identity } from './identity.js';

/** @throws HelixError `not_allowed` for a caller without this role */
export function requireRole({ roles }: Pick<Identity, 'roles'>, role: Role): void {
  if (roles?.includes(role) !== true) {
    throw new HelixError('not_allowed', `This needs the role ${role}.`);
  }
}
