import { holdsRole, type Actor, type Approvers, type Role } from './actor.js';
import { ANONYMOUS } from './ids.js';
import { HelixError } from './errors.js';
import { withTimeout } from './time.js';

/** A person as the host has verified it: an account, within a tenant if there is one. */
export interface Principal {
  readonly userId: string;
  readonly tenantId?: string;
  /** Those that the person had at the time of acting; absent if nobody signed in then. */
  readonly roles?: readonly Role[];
}

/** A person in the record of a conversation. */
export interface KnownPerson extends Principal {
  /** The same for all accounts of one person, whatever their tenants. */
  readonly personId?: string;
}

/** The one who answers a call. */
export interface Responder extends KnownPerson {
  /** True on a server without sign-in: every person is this user, so no other one can be demanded. */
  readonly isEveryone?: boolean;
}

/** No account's own name may begin so. */
const VISITOR = 'other-tenant:';
const VISITED = /^other-tenant:([^|]*)\|(.+)$/s;

/**
 * The name of an operator within a tenant that is not the own one. Users there may have the same id, and
 * also `<tenant>|<user>`, as identity providers make them: what a name owns is compared by the name.
 */
export function toVisitorName({ tenantId = '', userId }: Principal): string {
  return `${VISITOR}${encodeURIComponent(tenantId)}|${userId}`;
}

/** True for a name that only operators of other tenants have. */
export function isVisitorName(userId: string): boolean {
  return userId.startsWith(VISITOR);
}

type Loose<T> = { [Name in keyof T]: T[Name] | undefined };

/** The account behind a name that acts within a tenant; for an operator of another tenant, that account. */
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

/** A program, or an operator in Temporal, may name anybody. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Who acts, as a person within a tenant; undefined for a rule. */
export function toActingPerson(
  { by, roles, personId }: Actor,
  tenantId: string | undefined,
): KnownPerson | undefined {
  return by === undefined ? undefined : toPerson(by, { tenantId, roles, personId });
}

/** What a tool gets of a person; undefined on a server without accounts, where nobody is verified. */
export function toPrincipal(person: KnownPerson | undefined): Principal | undefined {
  if (person === undefined || person.userId === ANONYMOUS) return undefined;
  const { personId: _personId, ...principal } = person;
  return principal;
}

function isSameAccount(one: Principal, other: Principal): boolean {
  return one.userId === other.userId && (one.tenantId ?? '') === (other.tenantId ?? '');
}

/** Where it is not known of both accounts whose they are, the same name in another tenant is the same person. */
export function isSamePerson(one: KnownPerson, other: KnownPerson): boolean {
  if (isSameAccount(one, other)) return true;
  return one.personId === undefined || other.personId === undefined
    ? one.userId === other.userId
    : one.personId === other.personId;
}

/**
 * Whether a responder has what the record of a call demands, apart from what the tool's function
 * decides.
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

/** The owner of a conversation, and all by whose doing its newest turn is as it is. */
export interface AskedBy {
  owner: string;
  tenant?: string | undefined;
  /** The author of the turn's messages, then those who have fired, repeated, continued or copied it since. */
  askers?: readonly KnownPerson[] | undefined;
}

/** By whose doing a call asks: once a person has changed its input, by that person's. */
export function askedByOf(conversation: AskedBy, { edited }: EditedCall): AskedBy {
  if (edited === undefined) return conversation;
  const { by = '', person } = edited;
  return { owner: by, tenant: person?.tenantId, askers: person && [person] };
}

/** Whether this person may take back what a call asks: the one who has changed it, and who asked before. */
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

/** Whether it is this person's doing that a call of the conversation asks. */
export function hasAsked(
  { userId, ...known }: Responder,
  { owner, tenant, askers = [] }: AskedBy,
): boolean {
  const responder = toPerson(userId, known);
  const account = toPerson(owner, { tenantId: tenant });
  const isKnown = askers.some((each) => isSameAccount(each, account));
  return [...askers, ...(isKnown ? [] : [account])].some((each) => isSamePerson(each, responder));
}

/** A rule of the host that asks another service; people, and streams that several share, wait for it. */
const VERDICT_MS = 1_500;

/**
 * What a rule of the host decides about a person.
 *
 * @throws HelixError `unavailable` if it takes longer than 1.5 s; what the rule throws
 */
export function verdictInTime<T>(verdict: T | Promise<T>): Promise<T> {
  const late = (): Error =>
    new HelixError('unavailable', 'Whether you may do this could not be found out in time.');
  return withTimeout(VERDICT_MS, Promise.resolve(verdict), { late });
}
