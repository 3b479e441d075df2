import { formatInt, redis } from './lib/host.js';
import {
  holdOf,
  readEntry,
  removeEntry,
  withoutHold,
  writeEntry,
  type Owner,
} from './lib/owner.js';
import { only } from './lib/request.js';
import { addUsed, type UsedBy } from './lib/used.js';

export interface FoldRequest {
  sessionId: string;
  /** Current figures of the session; absent if it was erased or belongs to another owner. */
  standing?: Standing;
  /**
   * Apply even if a later fold came first: a store restored from a backup may hold less than it did
   * then.
   */
  anyway?: boolean;
  /** What the usage belongs to. */
  usedBy?: UsedBy;
}

/** What a session counts for, as it was read at one moment. */
export interface Standing {
  created: number;
  version: number;
  bytes: number;
  queued: number;
  /** 1 while its run is active. */
  runs: number;
  /** ms since the epoch. */
  updated: number;
  /** Usage of all its ended runs, see lib/usage; absent without any. */
  spent?: string;
}

/**
 * fold: updates what an owner is charged for a session to the figures that were read. Folds may
 * arrive late, twice or not at all: they carry totals, not differences. Of two folds the one with
 * the higher version stays.
 *
 * @returns `added` · `folded` · `stale`, a later fold came first · `removed` · `unknown`, the
 * session was not charged
 */
export function fold(owner: Owner, { sessionId, standing, anyway, usedBy }: FoldRequest): string {
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
      spent: standing.spent ?? '',
    }),
  );
  if (usedBy !== undefined) addUsed(owner, usedBy, standing.spent, before?.spent);
  redis.call('ZREM', owner.holds, holdOf(owner, sessionId));
  redis.call('ZADD', owner.sessions, formatInt(-updated), sessionId);
  if (runs === 1) redis.call('ZADD', owner.work, formatInt(updated), sessionId);
  else redis.call('ZREM', owner.work, sessionId);
  return only(before === undefined || before.created === 0 ? 'added' : 'folded');
}

/** A session created later under the same id, after this one was erased, is newer. */
function isOlder(
  { created, version }: Standing,
  before: { created: number; version: number },
): boolean {
  if (created !== before.created) return created < before.created;
  return version < before.version;
}
