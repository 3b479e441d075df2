import { z } from 'zod';
import { HelixError } from './errors.js';

/**
 * What a caller may do with conversations of others, within the own tenant: `viewer` reads,
 * `approver` also answers what waits, `operator` also stops, resumes and repeats runs.
 */
export const ROLES = ['viewer', 'approver', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/**
 * The way an act came: from a chat page, the console, the command line, an MCP client, a program
 * that speaks HTTP, a signed link, an update or signal in Temporal, or by a rule without a person.
 */
export const CHANNELS = [
  'page',
  'console',
  'cli',
  'mcp',
  'api',
  'link',
  'temporal',
  'auto',
] as const;
export type Channel = (typeof CHANNELS)[number];

/** Who acts, and the way the act came, as the audit trail keeps it. */
export interface Actor {
  /** The person; absent for a rule. */
  by?: string | undefined;
  /** The roles that the person had. */
  roles?: readonly Role[] | undefined;
  /** The same for all accounts of the person; never part of an entry. */
  personId?: string | undefined;
  /** Default: `api`. */
  via?: Channel | undefined;
  /** Id of the entry, of which the trail keeps one however often the act is repeated. Default: a new id. */
  actId?: string | undefined;
}

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

/** Channels that a request may name. They tell apart ways, not people: anyone may send the header. */
const NAMED: readonly string[] = ['page', 'console', 'cli', 'mcp'] satisfies Channel[];

/** The channel that the header `x-helix-via` names; `api` without it, and for other values. */
export function readVia(value: string | null | undefined): Channel {
  return value != null && NAMED.includes(value) ? (value as Channel) : 'api';
}
