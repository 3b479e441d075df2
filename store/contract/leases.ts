/**
 * Leases: every worker process holds one and renews it. The attempts that it works on are registered under the lease,
 * so that another worker of the same Temporal namespace can have them scheduled again once the lease has lapsed.
 *
 * Nothing here is proportional to sessions or runs: a lease knows only the attempts in progress.
 */
export interface Leases {
  /** The leases of the workers of one Temporal namespace. */
  of: (namespace: string) => Leases;
  renew: (holder: string, forMs: number) => Promise<RenewedLease>;
  /** Names of all holders, including those of lapsed leases whose attempts were not taken over yet. */
  holders: () => Promise<string[]>;
  look: (holder: string) => Promise<LeaseState>;
  /** Registers an attempt, or replaces its entry. */
  hold: (holder: string, work: HeldWork) => Promise<void>;
  /** Removes an entry; true if it existed. */
  release: (holder: string, workId: string) => Promise<boolean>;
  work: (holder: string) => Promise<HeldWork[]>;
  /** Returns those of these entries that are registered under any lease. */
  registered: (workIds: readonly string[]) => Promise<Set<string>>;
  /**
   * Returns true if the caller alone may take over this holder's attempts for `forMs`. From then on each renewal tells
   * the holder that its lease is over. Another judge may follow once that time has passed.
   */
  judge: (holder: string, forMs: number) => Promise<boolean>;
  /** Notes that the holder's process is known to have ended. */
  end: (holder: string) => Promise<void>;
  /** Removes a lease under which nothing is registered; true if it was listed. */
  forget: (holder: string) => Promise<boolean>;
  /** Notes that a worker of the namespace has died. */
  noteDeath: () => Promise<void>;
  /** Returns true if a worker died within the last seconds; it may have cached any workflow. */
  hasDeath: () => Promise<boolean>;
  /** Leaves a stop for all workers of the namespace. Renewals return it for some seconds. */
  noteStop: (stop: StopNote) => Promise<void>;
  /** The means by which another thread opens the same leases, if it can. */
  thread?: LeaseThread;
}

/** A module that exports `openLeases(data)`, which returns `OpenedLeases`. */
export interface LeaseThread {
  module: string;
  /** Structured-cloneable argument. */
  data: unknown;
}

export interface OpenedLeases {
  leases: Leases;
  close: () => void;
}

export interface RenewedLease {
  /** Another worker has judged this lease, so the holder must continue under another name. */
  isOver: boolean;
  /** Stops of the last seconds, including those that were returned before. */
  stops: StopNote[];
}

export interface StopNote {
  sessionId: string;
  runId: string;
}

export interface LeaseState {
  /** Time until the lease lapses, ms; 0 if it has. */
  leftMs: number;
  isEnded: boolean;
  /** Another worker has judged the lease. */
  isOver: boolean;
}

/** An attempt in progress, with the facts that a successor needs. */
export interface HeldWork {
  /** Unique among all attempts. */
  id: string;
  taskToken: string;
  workflowId: string;
  /** Run id of the workflow's execution. */
  runId: string;
  /** Fence token of the attempt; its successor's must be higher. */
  token: number;
  /** Number of attempts, including this one. */
  number: number;
  /** True for a started call that may not be repeated, which is taken over only after a while. */
  isPatient?: boolean;
  /** Id of a call whose tool has blocked its worker; the successor does not execute it again. */
  blockedBy?: string;
  /** State for the attempt's successor: JSON, small. */
  progress?: unknown;
}
