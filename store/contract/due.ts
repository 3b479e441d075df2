/**
 * Due: the list of sessions whose run may need the sweeper. A session is noted before its change is
 * stored, so that no run is missed. A session is on one of two lists: `urgent` while it is active
 * or was noted, `routine` once it was found waiting or idle. Files may put it on both.
 */
export interface Due {
  /** The lists of a fleet, that is, the workers of one namespace and task queue. */
  of: (fleet: string) => Due;
  /** Puts a session on the urgent list, due in `inMs`. `isFreeing`: its change frees the memory of a full store. */
  note: (sessionId: string, inMs: number, isFreeing?: boolean) => Promise<void>;
  /** Puts a session on the routine list, due in `inMs`, unless it is on that list. */
  noteLater: (sessionId: string, inMs: number) => Promise<void>;
  /** Returns true if this holder may sweep a shard for the next `forMs`. */
  lease: (shard: number, holder: string, forMs: number) => Promise<boolean>;
  /** Takes due sessions of a shard, oldest first, up to a limit for each list. They are not due again for `forMs`. */
  take: (shard: number, max: Record<DueList, number>, forMs: number) => Promise<DueSession[]>;
  /** Sets the time of a taken session's next check, unless it was noted since. */
  put: (session: DueSession, list: DueList, inMs: number) => Promise<void>;
  /** Removes a taken session from its list, unless it was noted since. */
  drop: (session: DueSession) => Promise<void>;
  /** A page of a shard's list, oldest first, due or not. */
  listed: (list: DueList, shard: number, from: number, max: number) => Promise<string[]>;
  /** Returns true if this holder may do that work of the fleet for the next `forMs`. */
  leaseWork: (work: string, holder: string, forMs: number) => Promise<boolean>;
}

/** Resolves once a session is noted as due. A change stores only after this, and fails if it rejects. */
export type Noted = Promise<void>;

/** Notes a session for a change that may be refused before it awaits the note. */
export function noteInBackground(due: Pick<Due, 'note'>, sessionId: string, inMs: number): Noted {
  const noted = due.note(sessionId, inMs);
  noted.catch(() => undefined);
  return noted;
}

export type DueList = 'urgent' | 'routine';

export interface DueSession {
  sessionId: string;
  list: DueList;
  /** Time at which it is due again, ms since the epoch. */
  takenUntil: number;
}

/** Shards of the lists of due sessions. Each has its own lease, so that all processes share the work. */
export const DUE_SHARDS = 20;

/** Returns the shard of a session, by FNV-1a. Pure. */
export function dueShardOf(sessionId: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < sessionId.length; at += 1) {
    hash = Math.imul(hash ^ sessionId.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash % DUE_SHARDS;
}
