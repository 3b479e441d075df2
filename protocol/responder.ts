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
 * @param conversation with the one who has begun its newest run, if that was not its owner
 */
export function fulfils(
  { roles, separate }: Approvers = {},
  responder: Responder,
  conversation: AskedBy,
): boolean {
  // A program that names no person cannot stand for one.
  if (responder.userId === '') return false;
  if (roles !== undefined && !holdsOne(responder, roles)) return false;
  return separate !== true || !hasAsked(responder, conversation) || responder.isEveryone === true;
}

/** Roles of which the responder needs one; empty if another person has to decide, whatever the roles. */
export function lackedRoles(
  { roles = [], separate }: Approvers = {},
  responder: Responder,
  conversation: AskedBy,
): readonly Role[] {
  if (separate === true && hasAsked(responder, conversation)) return [];
  return holdsOne(responder, roles) ? [] : roles;
}

function holdsOne(responder: Responder, roles: readonly Role[]): boolean {
  return roles.some((role) => holdsRole(responder.roles, role));
}

/** The owner of a conversation, and the colleague who has begun its newest run, if one has. */
export interface AskedBy {
  owner: string;
  runBy?: string | undefined;
}

/** Whether it is this person's doing that a call of the conversation asks. */
export function hasAsked({ userId }: Responder, { owner, runBy }: AskedBy): boolean {
  const name = userId.toWellFormed();
  return name === owner || name === runBy?.toWellFormed();
}
