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
    const named: readonly unknown[] = readNames(payload, rolesClaim);
    return ROLES.filter((role) => named.includes(nameOf(role)));
  };
}

/** The names in a claim: a list, or words in one text. A path such as `realm_access.roles` is followed. */
export function readNames(payload: JWTPayload, claim: string): string[] {
  const value = payload[claim] ?? at(payload, claim.split('.'));
  return toNames(value).filter((name) => typeof name === 'string');
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
