import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { AuditAction, AuditDetail } from '../store/contract/audit.js';
import { toAct } from '../runs/record/acts.js';
import { logEntries } from '../runs/record/listeners.js';
import { toActor, type Identity } from './identity.js';
import type { RouteDeps } from './deps.js';

/** Subject of a request, for its audit entry. A session record can serve as one. */
export interface About {
  sessionId?: string | undefined;
  owner?: string | undefined;
  /** The person whose data is read or exported. */
  person?: string | undefined;
  pseudonym?: string | undefined;
  reason?: string | undefined;
  detail?: AuditDetail | undefined;
}

/** The audit settings of a route's declaration. */
export interface Audited {
  id: string;
  /**
   * Audit entries of a request. `read`: one per person, channel and hour, unless the caller only
   * reads their own data. `act`: one, written by the code that carries out the act.
   */
  audits: 'read' | 'act' | 'none';
  /** Each request leaves an entry of this action, written before the request is carried out. */
  entry?: AuditAction;
}

/** Pages and commands ask each second, so a person's reads of an hour make one entry. */
const HOUR_MS = 60 * 60_000;

/**
 * Records the read or act of a request as its route declares it, after the caller's rights are
 * checked and before the reply begins.
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
  // Without accounts all data belongs to the one user.
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
  // A search must not create a pseudonym for a person who was erased or never existed.
  const whom = action === 'read' ? { sought: person } : { person };
  const target = { sessionId, pseudonym, ...whom };
  logEntries(deps.logger, await audit.record({ ...act, outcome }, target));
}
