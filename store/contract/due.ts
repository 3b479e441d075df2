/**
 * Due: the list of sessions whose run may need the sweeper. A session is noted before anything that
 * could get lost, so that no run is unknown. A session is on one of two lists: `urgent` while it is
 * active or was noted, `routine` once it was found waiting or idle. Files may put it on both.
 */
export interface Due {
  /** The list of a fleet: the workers of one namespace and task queue. */
  of: (fleet: string) => Due;
  /** Puts a session on the urgent list, due in `inMs`. */
  note: (sessionId: string, inMs: number) => Promise<void>;
  /** Puts a session that is not on the routine list on it, due in `inMs`. */
  noteLater: (sessionId: string, inMs: number) => Promise<void>;
  /** True if this holder may sweep a shard for the next `forMs`. */
  lease: (shard: number, holder: string, forMs: number) => Promise<boolean>;
  /**
   * Takes sessions of a shard that are due, oldest first, up to a limit for each list. They are not
   * due again for `forMs`.
   */
  take: (shard: number, most: Record<DueList, number>, forMs: number) => Promise<DueSession[]>;
  /** Sets when a session that was taken is checked next, unless it was noted since. */
  put: (session: DueSession, list: DueList, inMs: number) => Promise<void>;
  /** Takes a session that was taken off the lists, unless it was noted since. */
  drop: (session: DueSession) => Promise<void>;
  /** A page of a list of a shard, oldest first, whether due or not. */
  listed: (list: DueList, shard: number, from: number, most: number) => Promise<string[]>;
  /** True if this holder may query closed workflows for the next `forMs`. */
  leaseClosed: (holder: string, forMs: number) => Promise<boolean>;
}

/**
 * Resolves once a session is noted as due. The change that is given it is stored only then, and is decided meanwhile; a
 * list that cannot be written fails the change.
 */
export type Noted = Promise<void>;

/** Notes a session for a change that may also be refused before it waits for this. */
export function noteBeside(due: Pick<Due, 'note'>, sessionId: string, inMs: number): Noted {
  const noted = due.note(sessionId, inMs);
  noted.catch(() => undefined);
  return noted;
}

export type DueList = 'urgent' | 'routine';

export interface DueSession {
  sessionId: string;
  /** The list from which it was taken. */
  list: DueList;
  /** When it is due again, ms since the epoch. */
  takenUntil: number;
}

/** Shards of a list of due sessions: each has its own lease, so that all processes share the work. */
export const DUE_SHARDS = 20;

/** The shard of a session; FNV-1a. Pure. */
export function dueShardOf(sessionId: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < sessionId.length; at += 1) {
    hash = Math.imul(hash ^ sessionId.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash % DUE_SHARDS;
}
