import { toStoredSessionId } from '../../stores/record/stored-session-id.js';
import type { ChatDeps } from './types.js';
import { isOwner, type Caller } from './access.js';
import { needsTurnRows, toNeed, type KnownSession, type Need, type Request } from './classify.js';

type Deps = Pick<ChatDeps, 'executor' | 'stateStore'>;

export interface LocatedSession {
  /** Id under which the session is stored, or would be. */
  storedId: string;
  /** Undefined if it does not exist. Of a stranger's session the record alone is known. */
  session?: KnownSession | undefined;
}

/**
 * Reads what a request is classified by: the session once, with its open calls if it may answer some.
 * Further reads are made where the first does not suffice: the transcript of a turn that is done
 * again (after the owner is known), the newest turn's rows for results whose calls are not open any
 * more, and the session once more if its deadline has passed.
 */
export async function readSession(
  deps: Deps,
  sessionId: string,
  { request, caller }: { request: Request; caller: Caller },
): Promise<LocatedSession> {
  const { sessions } = deps.stateStore;
  const owner = { owner: caller.userId, tenant: caller.tenantId };
  const need = toNeed(request);
  const storedId = toStoredSessionId(sessionId, caller.tenantId);
  const readFirst = async (): Promise<Omit<KnownSession, 'isOwn'> | undefined> => {
    if (need === 'calls') return sessions.withCalls(storedId, owner);
    const record = await sessions.read(storedId);
    return record && { record };
  };
  const found = await readFirst();
  if (found === undefined) return { storedId };
  if (!isOwner(found.record, caller)) {
    return { storedId, session: { isOwn: false, record: found.record } };
  }
  const current = (await expireOverdue(deps, found)) ? await readFirst() : found;
  const session = current && (await readMore(deps, { ...current, isOwn: true }, request, need));
  return { storedId, session };
}

/** No page is shown an open question whose time is over, even if no worker runs. */
async function expireOverdue({ executor }: Deps, { record }: Omit<KnownSession, 'isOwn'>) {
  const { sessionId, deadline = Infinity } = record;
  return deadline <= Date.now() && (await executor.expireCalls(sessionId));
}

async function readMore(
  { stateStore: { sessions } }: Deps,
  session: KnownSession,
  request: Request,
  need: Need,
): Promise<KnownSession | undefined> {
  const { sessionId, turnStartRow } = session.record;
  if (need === 'transcript') {
    const view = await sessions.view(sessionId);
    return view && { isOwn: true, record: view.record, openCalls: view.openCalls, rows: view.rows };
  }
  if (need === 'record' || !needsTurnRows(request, session)) return session;
  return { ...session, turnRows: await sessions.rows(sessionId, turnStartRow) };
}
