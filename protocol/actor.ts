import { z } from 'zod';
import { HelixError } from './errors.js';

/**
 * Rights over other users' conversations within the caller's tenant: `viewer` reads, `approver`
 * also answers pending calls, `operator` also stops, resumes and repeats runs.
 */
export const ROLES = ['viewer', 'approver', 'operator'] as const;
export type Role = (typeof ROLES)[number];

/**
 * Channels of an act: a chat page, the console, the command line, an MCP client, a program that
 * speaks HTTP, a signed link, an update or signal in Temporal, or a rule without a person.
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

/** The person or rule that acts, and the channel, for the audit trail. */
export interface Actor {
  /** The person; absent for a rule. */
  by?: string | undefined;
  /** Roles at the time of the act. */
  roles?: readonly Role[] | undefined;
  /** Shared by all accounts of the person; never part of an audit entry. */
  personId?: string | undefined;
  via?: Channel | undefined;
  /** Id of the audit entry; a repeated act with the same id adds none. Default: a new id. */
  actId?: string | undefined;
}

export function holdsRole(roles: readonly Role[] | undefined, wanted: Role): boolean {
  return roles?.some((role) => ROLES.indexOf(role) >= ROLES.indexOf(wanted)) === true;
}

export function needsRole(roles: readonly Role[]): HelixError {
  return new HelixError('not_allowed', `This needs the role ${roles.join(' or ')}.`, {
    detail: { roles },
  });
}

/**
 * A tool's demands on the approver of a call, stored with the call. Without demands the
 * conversation's owner and the tenant's approvers may approve.
 */
export const Approvers = z.object({
  roles: z.array(z.enum(ROLES)).optional(),
  /** True if a function in the agent's code decides about the approver. */
  rule: z.boolean().optional(),
  /** The people who caused the call may not approve it; see `hasAsked`. */
  separate: z.boolean().optional(),
});
export type Approvers = z.infer<typeof Approvers>;

/** Channels that a request may name. Anyone may send the header, so it proves nothing. */
const NAMED: readonly string[] = ['page', 'console', 'cli', 'mcp'] satisfies Channel[];

export function readVia(value: string | null | undefined): Channel {
  return value != null && NAMED.includes(value) ? (value as Channel) : 'api';
}
