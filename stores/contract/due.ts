/** Due: the list of sessions whose run may need the sweeper's attention. */
export interface Due {
  /** Sessions that are due, oldest first; they are not due again for `forMs`. */
  take: (limit: number, forMs: number) => Promise<DueSession[]>;
  /** Puts a session off that was taken, unless it was noted again since. */
  postpone: (session: DueSession, byMs: number) => Promise<void>;
  /** Puts a session on the list, due in `inMs`; written before `begin`, so that no run is unknown. */
  note: (sessionId: string, inMs: number) => Promise<void>;
  /** Takes a session off the list. */
  forget: (sessionId: string) => Promise<void>;
  /** True if this holder may sweep for the next `forMs`. */
  leaseSweep: (holder: string, forMs: number) => Promise<boolean>;
}

export interface DueSession {
  sessionId: string;
  /** When it is due again, ms since the epoch. */
  takenUntil: number;
}
