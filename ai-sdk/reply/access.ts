import { readVia, type Actor, type Role } from '../../protocol/actor.js';
import { HEADERS, ANONYMOUS } from '../../protocol/ids.js';
import type { SessionRecord, SessionView, WantedRows } from '../../store/contract/sessions.js';
import type { Store } from '../../store/contract/store.js';
import { toStoredSessionId } from '../../store/record/stored-session-id.js';
import { agentUnavailable, notFound } from './refusals.js';

export { toStoredSessionId };

/** A caller's session; `record` is absent if it does not exist yet. */
export interface FoundSession {
  storedId: string;
  record?: SessionRecord | undefined;
}

/** Finds a session by the id that its client uses, whichever user of the tenant owns it. */
export async function findSession(
  { sessions }: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller,
): Promise<FoundSession> {
  const storedId = toStoredSessionId(sessionId, caller.tenantId);
  return { storedId, record: await sessions.read(storedId) };
}

/** Finds a caller's own session; undefined as well if another user owns it. */
export async function findOwnSession(
  stores: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller | undefined,
): Promise<SessionRecord | undefined> {
  // JavaScript hosts may omit the caller.
  const { record } = await findSession(stores, sessionId, caller ?? { userId: '' });
  return isOwner(record, caller) ? record : undefined;
}

/** Reads an own session with its rows; others' rows are not read, since timing would show them. */
export async function readOwnView(
  stores: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller | undefined,
  wanted?: WantedRows,
): Promise<SessionView | undefined> {
  const record = await findOwnSession(stores, sessionId, caller);
  const view = record && (await stores.sessions.view(record.sessionId, undefined, wanted));
  return isOwner(view?.record, caller) ? view : undefined;
}

/** Reads a caller's own session. @throws HelixError `not_found`, also for another user's */
export async function readOwned(
  stores: Pick<Store, 'sessions'>,
  sessionId: string,
  caller: Caller,
): Promise<SessionRecord> {
  const record = await findOwnSession(stores, sessionId, caller);
  if (record === undefined) throw notFound();
  return record;
}

export interface Caller {
  userId: string;
  tenantId?: string | undefined;
  /**
   * Permissions in conversations of others within the tenant, and as an approver of tools that
   * demand roles. Default: none.
   */
  roles?: readonly Role[] | undefined;
  /**
   * Id of the person, equal for all of the person's accounts in several tenants. Default: accounts
   * with the same `userId` are one person's.
   */
  personId?: string | undefined;
  /** True on a server without sign-in: every request comes from this user, and no tool can demand another. */
  isEveryone?: boolean | undefined;
}

/**
 * Returns true for the session's creator in the same tenant. False for a session that does not
 * exist, and for a caller without a name, which JavaScript hosts may omit.
 */
export function isOwner(
  session: { owner: string; tenant?: string } | undefined,
  caller: Caller | undefined,
): boolean {
  if (session === undefined || !caller?.userId) return false;
  return session.owner === caller.userId && (session.tenant ?? '') === (caller.tenantId ?? '');
}

/** Builds the caller of a request whose fields are all optional. */
export function toCaller(sent: Partial<Caller>): Caller {
  const { userId = ANONYMOUS, tenantId, roles, personId, isEveryone } = sent;
  return { userId, tenantId, roles, personId, isEveryone };
}

/** The agents of a host; an `AgentRegistry` fits. */
export interface AddressedAgents {
  has: (name: string) => boolean;
  isPublic?: (name: string) => boolean;
}

/** Returns true for an agent that people may talk to. */
export function isAddressable(agents: AddressedAgents, name: string): boolean {
  return agents.has(name) && (agents.isPublic?.(name) ?? true);
}

/**
 * Checks that a conversation can continue: its agent may have been removed, or made a sub-agent
 * only.
 *
 * @throws HelixError `agent_not_found`
 */
export function requireAddressable(agents: AddressedAgents, name: string): void {
  if (!isAddressable(agents, name)) throw agentUnavailable();
}

interface Sent extends Omit<Actor, 'by'> {
  request?: Pick<Request, 'headers'> | undefined;
}

/** Describes the sender of a request and its channel, for the audit trail. */
export function toActor({ roles, personId, request }: Sent): Omit<Actor, 'by'> {
  return { roles, personId, via: readVia(request?.headers.get(HEADERS.via)) };
}
