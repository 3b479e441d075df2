import { z } from 'zod';
import { HelixError } from './errors.js';
import { ANONYMOUS } from './ids.js';
import { withTimeout } from './time.js';

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

/** A person as the host has verified it: an account, within a tenant if there is one. */
export interface Principal {
  readonly userId: string;
  readonly tenantId?: string;
  /** Roles at the time of acting; absent if nobody signed in. */
  readonly roles?: readonly Role[];
}

export interface KnownPerson extends Principal {
  /** Shared by all accounts of one person, across tenants. */
  readonly personId?: string;
}

export interface Responder extends KnownPerson {
  /** True on a server without sign-in, where everyone is this user and no second person exists. */
  readonly isEveryone?: boolean;
}

/** Reserved prefix: no account's own name may begin with it. */
const VISITOR = 'other-tenant:';
const VISITED = /^other-tenant:([^|]*)\|(.+)$/s;

/**
 * Formats the name under which an operator acts in another tenant. Users there may have the same
 * id, or one like `<tenant>|<user>`, and ownership is compared by name, so the name has a prefix.
 */
export function toVisitorName({ tenantId = '', userId }: Principal): string {
  return `${VISITOR}${encodeURIComponent(tenantId)}|${userId}`;
}

export function isVisitorName(userId: string): boolean {
  return userId.startsWith(VISITOR);
}

type Loose<T> = { [Name in keyof T]: T[Name] | undefined };

/**
 * Returns the account behind a name in a tenant, which may be that of a visitor from another one.
 */
export function toPerson(
  name: string,
  { tenantId, roles, personId }: Loose<Omit<KnownPerson, 'userId'>> = {},
): KnownPerson {
  const known = { ...(roles && { roles }), ...(personId !== undefined && { personId }) };
  const userId = name.toWellFormed();
  const [, tenant = '', own] = VISITED.exec(userId) ?? [];
  if (own === undefined) return { userId, ...(tenantId && { tenantId }), ...known };
  return { userId: own, ...(tenant !== '' && { tenantId: decoded(tenant) }), ...known };
}

/** Decodes text that may be malformed: a program, or an operator in Temporal, may send any name. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Converts an actor to a person within a tenant; undefined for a rule. */
export function toActingPerson(
  { by, roles, personId }: Actor,
  tenantId: string | undefined,
): KnownPerson | undefined {
  return by === undefined ? undefined : toPerson(by, { tenantId, roles, personId });
}

/** Converts a person for tools; undefined on a server without accounts. */
export function toPrincipal(person: KnownPerson | undefined): Principal | undefined {
  if (person === undefined || person.userId === ANONYMOUS) return undefined;
  const { personId: _personId, ...principal } = person;
  return principal;
}

function isSameAccount(one: Principal, other: Principal): boolean {
  return one.userId === other.userId && (one.tenantId ?? '') === (other.tenantId ?? '');
}

/** Unless both people have a `personId`, equal names in two tenants count as one person. */
export function isSamePerson(one: KnownPerson, other: KnownPerson): boolean {
  if (isSameAccount(one, other)) return true;
  return one.personId === undefined || other.personId === undefined
    ? one.userId === other.userId
    : one.personId === other.personId;
}

/**
 * Returns true if a responder meets the demands in a call's record; the tool's function may still refuse.
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

/** Returns roles of which the responder needs one; empty if another person must decide. */
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

/** The owner of a conversation, and everyone who caused its newest turn. */
export interface AskedBy {
  owner: string;
  tenant?: string | undefined;
  /** The author of the turn's messages, then those who fired, repeated, continued or copied it. */
  askers?: readonly KnownPerson[] | undefined;
}

/** Returns the people who caused a call; once a person has changed its input, only that person. */
export function askedByOf(conversation: AskedBy, { edited }: EditedCall): AskedBy {
  if (edited === undefined) return conversation;
  const { by = '', person } = edited;
  return { owner: by, tenant: person?.tenantId, askers: person && [person] };
}

/** Returns true if a person may withdraw a call: those who asked for it, or changed its input. */
export function mayWithdraw(
  responder: Responder,
  conversation: AskedBy,
  call: EditedCall,
): boolean {
  return hasAsked(responder, conversation) || hasAsked(responder, askedByOf(conversation, call));
}

interface EditedCall {
  edited?: { by?: string | undefined; person?: KnownPerson | undefined } | undefined;
}

/** Returns true if a person caused the conversation's calls, as its owner or an asker. */
export function hasAsked(
  { userId, ...known }: Responder,
  { owner, tenant, askers = [] }: AskedBy,
): boolean {
  const responder = toPerson(userId, known);
  const account = toPerson(owner, { tenantId: tenant });
  const isKnown = askers.some((each) => isSameAccount(each, account));
  return [...askers, ...(isKnown ? [] : [account])].some((each) => isSamePerson(each, responder));
}

/** Time limit of a host's rule, for which people and shared streams wait. */
const VERDICT_MS = 1_500;

/** Waits 1.5 s for the verdict of a host's rule about a person. @throws HelixError `unavailable` */
export function verdictInTime<T>(verdict: T | Promise<T>): Promise<T> {
  const late = (): Error =>
    new HelixError('unavailable', 'Whether you may do this could not be found out in time.');
  return withTimeout(VERDICT_MS, Promise.resolve(verdict), { late });
}
