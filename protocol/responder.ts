import type { Role } from './actor.js';
import { holdsRole, type Approvers } from './roles.js';

/** The one who answers a call. */
export interface Responder {
  readonly userId: string;
  readonly tenantId?: string;
  readonly roles?: readonly Role[];
  /** True on a server without sign-in: every person is this user, so no other one can be demanded. */
  readonly isEveryone?: boolean;
}

/**
 * Whether a responder has what the record of a call demands, apart from what the tool's function
 * decides.
 *
 * @param owner of the conversation
 */
export function fulfils(
  { roles, separate }: Approvers = {},
  responder: Responder,
  owner: string,
): boolean {
  // A program that names no person cannot stand for one.
  if (responder.userId === '') return false;
  if (roles !== undefined && !roles.some((role) => holdsRole(responder.roles, role))) return false;
  const isOwner = responder.userId.toWellFormed() === owner;
  return separate !== true || !isOwner || responder.isEveryone === true;
}
