import { int } from './lib/json.js';
import { redis } from './lib/host.js';
import {
  clearExpired,
  COUNTED,
  holdOf,
  readCounts,
  readEntry,
  writeEntry,
  type Counts,
  type Entry,
  type Owner,
} from './lib/owner.js';
import { only, storeNow } from './lib/request.js';

export interface ReserveRequest {
  sessionId: string;
  /** Bytes that the request will store. */
  bytes: number;
  /**
   * `run` starts a run or queues for one; `alone` starts a run or does nothing; `copy` starts none.
   */
  purpose: 'run' | 'alone' | 'copy';
  /** The reservation expires after this time, ms, unless the session is folded before. */
  forMs: number;
  /** Absent limits: everything is recorded, nothing is refused. */
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
  spent: '',
};

/**
 * reserve: reserves what a request is about to add for the owner of a session, or names the limit
 * that it would exceed. It works on the owner's slot and precedes the transition of the session
 * itself.
 *
 * @param title title of a new conversation, or ''
 * @returns `reserved` · `exceeded` with the limit
 */
export function reserve(owner: Owner, request: ReserveRequest, title: string): string {
  const { sessionId, purpose, forMs } = request;
  const now = storeNow();
  clearExpired(owner, now);
  const stored = readEntry(owner, sessionId);
  const entry = stored ?? NEW;
  const isActive = entry.runs === 1 || entry.heldRuns === 1;
  const needed = {
    runs: purpose === 'copy' || isActive ? 0 : 1,
    queued: purpose === 'run' && isActive ? 1 : 0,
    sessions: stored === undefined ? 1 : 0,
    // An owner that has reached the limit gets nothing more, however small the request.
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
    spent: entry.spent,
  });
  redis.call('ZADD', owner.holds, int(now + forMs), holdOf(owner, sessionId));
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
