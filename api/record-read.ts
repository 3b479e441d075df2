import { createHash } from 'node:crypto';
import type { Actor } from '../protocol/actor.js';
import type { SessionRecord } from '../stores/contract/sessions.js';
import { toAct } from '../stores/record/acts.js';
import type { RouteDeps } from './deps.js';

/** Commands that watch a run ask each second: a person's reads of an hour are one entry. */
const HOUR_MS = 60 * 60_000;

type Reader = Actor & { by: string };

/** Records that a colleague reads what a conversation of another user asks; before it is answered. */
export async function recordRead(
  deps: RouteDeps,
  reader: Reader,
  { sessionId, tenant, owner }: SessionRecord,
): Promise<void> {
  if (owner === reader.by) return;
  await record(deps, reader, { sessionId, tenant, detail: { what: 'run' } });
}

/** The same of the questions of a whole tenant. */
export async function recordListRead(
  deps: RouteDeps,
  reader: Reader,
  tenant: string | undefined,
): Promise<void> {
  await record(deps, reader, { tenant, detail: { what: 'waiting' } });
}

async function record(
  { stateStore: { audit } }: RouteDeps,
  reader: Reader,
  { sessionId, tenant, detail }: ReadOf,
): Promise<void> {
  const { by, via } = reader;
  const hour = Math.floor(Date.now() / HOUR_MS);
  const which = JSON.stringify([tenant, by, via, sessionId, hour]);
  const actId = `read-${createHash('sha256').update(which).digest('base64url')}`;
  if (await audit.knows(tenant, actId)) return;
  const act = toAct('read', { ...reader, actId }, { tenant, detail });
  await audit.record(act, sessionId === undefined ? {} : { sessionId });
}

interface ReadOf {
  /** Absent for a list. */
  sessionId?: string;
  tenant: string | undefined;
  detail: { what: string };
}
