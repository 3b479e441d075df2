import type { JWTPayload } from 'jose';
import { ROLES, type Role } from '../protocol/actor.js';

export interface RoleOptions {
  rolesClaim?: string | undefined;
  roleNames?: Partial<Record<Role, string | undefined>> | undefined;
}

/** Reads the roles of a verified token; names that mean nothing here are left out. */
export function createRoleReader({
  rolesClaim = 'roles',
  roleNames = {},
}: RoleOptions): (payload: JWTPayload) => Role[] {
  const nameOf = (role: Role): string => roleNames[role] ?? role;
  return (payload) => {
    const named = toNames(payload[rolesClaim] ?? at(payload, rolesClaim.split('.')));
    return ROLES.filter((role) => named.includes(nameOf(role)));
  };
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, key)
        ? (found as Record<string, unknown>)[key]
        : undefined,
    value,
  );
}

function toNames(claim: unknown): unknown[] {
  if (typeof claim === 'string') return claim.split(/\s+/);
  return Array.isArray(claim) ? claim : [];
}
