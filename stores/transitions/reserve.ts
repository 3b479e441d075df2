import { int } from './lib/json.js';
import { redis } from './lib/host.js';
import {
  clearLapsed,
  COUNTED,
  holdOf,
  readCounts,
  readEntry,
  writeEntry,
  type Counts,
  type Entry,
  type Owner,
} from './lib/owner.js';
import { only } from './lib/request.js';
import { storeNow } from './lib/root.js';

export interface ReserveRequest {
  sessionId: string;
  /** What the request will store. */
  bytes: number;
  /** `run` begins one, or queues behind one; `alone` begins one, or nothing; `copy` begins none. */
  purpose: 'run' | 'alone' | 'copy';
  /** How long the reservation holds unless the session is folded. */
  forMs: number;
  /** Without limits everything is recorded, and nothing refused. */
  user?: Counts;
  tenant?: Counts;
}

const NEW: Entry = {
  created: 0,
  version: 0,
  bytes: 0,
  queued: 0,
  runs: 0,
  heldBytes: 0,
  heldQueued: 0,
  heldRuns: 0,
};

/**
 * reserve: sets aside for a session's owner what a request is about to add, or says which limit stands
 * against it. Works on the owner's slot; the session's own transition comes behind it.
 *
 * @param title of the conversation, if it gets one; ''
 */
export function reserve(owner: Owner, request: ReserveRequest, title: string): string {
  const { sessionId, purpose, forMs } = request;
  const now = storeNow();
  clearLapsed(owner, now);
  const stored = readEntry(owner, sessionId);
  const entry = stored ?? NEW;
  const isAtWork = entry.runs === 1 || entry.heldRuns === 1;
  const needed = {
    runs: purpose === 'copy' || isAtWork ? 0 : 1,
    queued: purpose === 'run' && isAtWork ? 1 : 0,
    sessions: stored === undefined ? 1 : 0,
    // What has reached its limit gets nothing more, however small.
    bytes: Math.max(request.bytes, 1),
  };
  const refusal =
    refusalOf('user', owner.usage, needed, request.user) ??
    refusalOf('tenant', owner.tenant, needed, request.tenant);
  if (refusal !== undefined) return refusal;
  const { created, version, bytes, queued, runs } = entry;
  writeEntry(owner, sessionId, {
    created,
    version,
    bytes,
    queued,
    runs,
    heldBytes: entry.heldBytes + request.bytes,
    heldQueued: entry.heldQueued + needed.queued,
    heldRuns: Math.max(entry.heldRuns, needed.runs),
  });
  redis.call('ZADD', owner.holds, now + forMs, holdOf(owner, sessionId));
  if (title !== '') redis.call('HSETNX', owner.titles, sessionId, title);
  return only('reserved');
}

function refusalOf(
  whose: 'user' | 'tenant',
  key: string,
  needed: Counts,
  limits: Counts | undefined,
): string | undefined {
  if (limits === undefined) return undefined;
  const used = readCounts(key);
  for (const what of COUNTED) {
    if (needed[what] > 0 && used[what] + needed[what] > limits[what]) {
      const numbers = `"limit":${int(limits[what])},"used":${int(used[what])}`;
      return `{"kind":"exceeded","what":"${what}","of":"${whose}",${numbers}}`;
    }
  }
  return undefined;
}
