/**
 * Due: the list of sessions whose run may need the sweeper's attention. What may get lost is noted
 * first, so that no run is unknown. A session is on one of two lists: `urgent` while it is at work or
 * something was noted, `routine` once it was found waiting or at rest.
 */
export interface Due {
  /** The list of a fleet: of the workers of one namespace and task queue. */
  of: (fleet: string) => Due;
  /** Puts a session on the urgent list, due in `inMs`. */
  note: (sessionId: string, inMs: number) => Promise<void>;
  /** True if this holder may sweep a shard for the next `forMs`. */
  lease: (shard: number, holder: string, forMs: number) => Promise<boolean>;
  /**
   * Sessions of a shard that are due, oldest first, so many of each list; they are not due again for
   * `forMs`.
   */
  take: (shard: number, most: Record<DueList, number>, forMs: number) => Promise<DueSession[]>;
  /** Says where a session that was taken is looked at next, unless it was noted since. */
  put: (session: DueSession, list: DueList, inMs: number) => Promise<void>;
  /** Takes a session that was taken off the lists, unless it was noted since. */
  drop: (session: DueSession) => Promise<void>;
  /** Takes in so many sessions that processes of release 0.2.0 have noted; how many there were. */
  adopt: (most: number) => Promise<number>;
  /** True if this holder may ask for closed workflows for the next `forMs`. */
  leaseClosed: (holder: string, forMs: number) => Promise<boolean>;
  /** When closed workflows were last asked for, ms since the epoch; 0 if they never were. */
  closedAt: () => Promise<number>;
  noteClosed: (at: number) => Promise<void>;
}

export type DueList = 'urgent' | 'routine';

export interface DueSession {
  sessionId: string;
  /** The list that it was taken from. */
  list: DueList;
  /** When it is due again, ms since the epoch. */
  takenUntil: number;
}
