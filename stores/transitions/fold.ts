import { redis } from './lib/host.js';
import {
  holdOf,
  readEntry,
  removeEntry,
  withoutHold,
  writeEntry,
  type Owner,
} from './lib/owner.js';
import { only } from './lib/request.js';

export interface FoldRequest {
  sessionId: string;
  /** How the session stands; absent if it is gone, or another's. */
  standing?: Standing;
  /** Also if a later fold came first: a store that was restored may have less than it had then. */
  anyway?: boolean;
}

/** What a session counts for, as it was read. */
export interface Standing {
  created: number;
  version: number;
  bytes: number;
  queued: number;
  /** 1 while its run is at work. */
  runs: number;
  /** ms since the epoch. */
  updated: number;
}

/**
 * fold: brings what a session's owner is charged for up to how the session was read. Folds may come
 * late, twice, or not at all: they say how things stand, not what has changed.
 */
export function fold(owner: Owner, { sessionId, standing, anyway }: FoldRequest): string {
  if (standing === undefined) {
    return only(removeEntry(owner, sessionId) ? 'removed' : 'unknown');
  }
  const { created, version, updated, runs } = standing;
  const before = readEntry(owner, sessionId);
  if (anyway !== true && before !== undefined && isOlder(standing, before)) return only('stale');
  const { bytes, queued } = standing;
  writeEntry(
    owner,
    sessionId,
    withoutHold({
      created,
      version,
      bytes,
      queued,
      runs,
      heldBytes: 0,
      heldQueued: 0,
      heldRuns: 0,
    }),
  );
  redis.call('ZREM', owner.holds, holdOf(owner, sessionId));
  redis.call('ZADD', owner.sessions, -updated, sessionId);
  if (runs === 1) redis.call('ZADD', owner.work, updated, sessionId);
  else redis.call('ZREM', owner.work, sessionId);
  return only(before === undefined || before.created === 0 ? 'added' : 'folded');
}

/** Another session of the same id, made after this one was erased, has a later creation. */
function isOlder(
  { created, version }: Standing,
  before: { created: number; version: number },
): boolean {
  if (created !== before.created) return created < before.created;
  return version < before.version;
}
