import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { AuditAction, AuditDetail } from '../store/contract/audit.js';
import { toAct } from '../runs/record/acts.js';
import { logEntries } from '../runs/record/listeners.js';
import { toActor, type Identity } from './identity.js';
import type { RouteDeps } from './deps.js';

/** What a request is about, for its entry in the audit trail; a session's record says it of itself. */
export interface About {
  /** The stored id of the conversation. */
  sessionId?: string | undefined;
  /** Whose it is. */
  owner?: string | undefined;
  /** The person whose data is read or exported. */
  person?: string | undefined;
  /** The same by pseudonym. */
  pseudonym?: string | undefined;
  reason?: string | undefined;
  detail?: AuditDetail | undefined;
}

/** What the declaration of a route says of its entries. */
export interface Audited {
  id: string;
  /**
   * What a request leaves in the audit trail. `read`: one entry for each person, way and hour, unless all
   * that is read is the caller's own. `act`: an entry by whatever carries the act out.
   */
  audits: 'read' | 'act' | 'none';
  /** Each request leaves an entry of this action, written before the request is carried out. */
  entry?: AuditAction;
}

/** Pages and commands ask each second: a person's reads of an hour are one entry. */
const HOUR_MS = 60 * 60_000;

/**
 * Records what a request is about to read or do, as its route declares it. Called once it is certain
 * that the caller may, and before anything is answered.
 */
export async function recordAccess(
  { id, audits, entry }: Audited,
  call: { deps: RouteDeps; request: Request; caller: Identity },
  { sessionId, owner, person, pseudonym, reason, detail }: About,
): Promise<void> {
  if (audits === 'none' || (audits === 'act' && entry === undefined)) return;
  const { deps, caller } = call;
  const { audit } = deps.stateStore;
  const actor = toActor(call);
  const { by, via } = actor;
  const { tenantId: tenant } = caller;
  const action = entry ?? 'read';
  const of = owner ?? person;
  // Without accounts all is of the one user.
  const isOwn = of === undefined ? caller.isEveryone === true : of === by;
  if (action === 'read' && isOwn) return;
  const hour = Math.floor(Date.now() / HOUR_MS);
  const which = JSON.stringify([tenant, by, via, id, sessionId, person, detail, hour]);
  const actId = `read-${createHash('sha256').update(which).digest('base64url')}`;
  if (entry === undefined && (await audit.knows(tenant, actId))) return;
  const act = toAct(action, entry === undefined ? { ...actor, actId } : actor, {
    ...{ tenant, owner: of, reason },
    detail: { what: id, ...detail },
  });
  const outcome = audits === 'act' ? 'asked' : undefined;
  // A search for a person is not to give one a pseudonym who was erased, or never was.
  const whom = action === 'read' ? { sought: person } : { person };
  const target = { sessionId, pseudonym, ...whom };
  logEntries(deps.logger, await audit.record({ ...act, outcome }, target));
}
