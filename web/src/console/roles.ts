import type { PageConfig } from '../api-client.js';

type Role = PageConfig['roles'][number];

/** A later role may do what the ones before it may. */
const RANK: readonly Role[] = ['viewer', 'approver', 'operator'];

/** Whether a person with these roles may do what this one may; the server decides all the same. */
export function mayAs(roles: readonly Role[], role: Role): boolean {
  return roles.some((held) => RANK.indexOf(held) >= RANK.indexOf(role));
}
