/**
 * Leases: every worker process holds one and renews it. The attempts that it works on are
 * registered under the lease, so that another worker of the same Temporal namespace can have them
 * scheduled again once the lease has lapsed.
 *
 * Nothing here is proportional to sessions or runs: a lease knows only the attempts in progress.
 */
export interface Leases {
  /** The leases of the workers of one Temporal namespace. */
  of: (namespace: string) => Leases;
  /** Renews or begins a lease. */
  renew: (holder: string, forMs: number) => Promise<RenewedLease>;
  /** Names of all holders, also of lapsed leases whose attempts were not yet taken over. */
  holders: () => Promise<string[]>;
  look: (holder: string) => Promise<LeaseState>;
  /** Registers an attempt, or replaces its entry. */
  hold: (holder: string, work: HeldWork) => Promise<void>;
  /** Removes an entry; true if it existed. */
  release: (holder: string, workId: string) => Promise<boolean>;
  work: (holder: string) => Promise<HeldWork[]>;
  /** Which of these entries are registered, under whatever lease. */
  registered: (workIds: readonly string[]) => Promise<Set<string>>;
  /**
   * True if the caller alone may take over attempts of this holder for `forMs`. From then on the
   * holder learns from each renewal that its lease is over. A judge that dies is followed by
   * another once that time has passed.
   */
  judge: (holder: string, forMs: number) => Promise<boolean>;
  /** Notes that the holder's process is known to have ended. */
  end: (holder: string) => Promise<void>;
  /** Removes a lease under which nothing is registered; true if it was listed. */
  forget: (holder: string) => Promise<boolean>;
  /** Notes that a worker of the namespace has died. */
  noteDeath: () => Promise<void>;
  /** True if one has died within the last seconds: any workflow may have been cached by it. */
  hasDeath: () => Promise<boolean>;
  /** Leaves a stop for all workers of the namespace: they get it with a renewal, for some seconds. */
  noteStop: (stop: StopNote) => Promise<void>;
  /** How another thread opens the same leases; absent if it cannot. */
  thread?: LeaseThread;
}

/** A module that exports `openLeases(data)`, which returns `OpenedLeases`. */
export interface LeaseThread {
  /** URL of the module. */
  module: string;
  /** Structured-cloneable argument. */
  data: unknown;
}

export interface OpenedLeases {
  leases: Leases;
  close: () => void;
}

export interface RenewedLease {
  /** Another worker has judged this lease: the holder must continue under another name. */
  isOver: boolean;
  /** Stops of the last seconds, also those that were returned before. */
  stops: StopNote[];
}

/** A conversation's run that was stopped. */
export interface StopNote {
  sessionId: string;
  runId: string;
}

export interface LeaseState {
  /** Time until the lease lapses, ms; 0 if it has. */
  leftMs: number;
  /** The process is known to have ended. */
  isEnded: boolean;
  /** It was judged before. */
  isOver: boolean;
}

/** An attempt in progress, as the worker that takes it over needs to know it. */
export interface HeldWork {
  /** Unique among all attempts. */
  id: string;
  /** Temporal's, in base64. */
  taskToken: string;
  workflowId: string;
  /** Of the workflow's execution. */
  runId: string;
  /** The writers' fence token of the attempt: its successor's must be higher. */
  token: number;
  /** How many attempts there were with it. */
  number: number;
  /** A call that was started and may not be repeated: it is taken over only after a while. */
  isPatient?: boolean;
  /** Set once the tool of this call has held up its worker: its successor does not execute it again. */
  blockedBy?: string;
  /** What the attempt leaves for its successor: JSON, small. */
  progress?: unknown;
}
